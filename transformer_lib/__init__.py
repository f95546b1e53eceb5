"""The original Transformer, built piece by piece: the library that the course's notebooks export.

Modules:

- `transformer_lib.teaching.figures.sheet`: Drawings of tensors: matrices as blocks of numbers with their shapes, cards and arrows, on a sheet measured in inches."""
