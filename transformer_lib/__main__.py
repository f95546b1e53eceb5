"""`python -m transformer_lib`, and so `torchrun -m transformer_lib`, is `transformer-train`."""

from transformer_lib._commands import train_command

train_command()
