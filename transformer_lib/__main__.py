"""`python -m transformer_lib`, and so `torchrun -m transformer_lib`, is `transformer-train`."""

from transformer_lib.cli import train_command

if __name__ == "__main__":
    train_command()
