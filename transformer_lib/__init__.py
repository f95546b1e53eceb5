"""The original Transformer, one module per chapter of the course."""
