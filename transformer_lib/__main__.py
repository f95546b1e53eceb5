"""`python -m transformer_lib`, and so `torchrun -m transformer_lib`, is `transformer-train`."""

from transformer_lib._commands import train_command

if __name__ == "__main__":
    train_command()
