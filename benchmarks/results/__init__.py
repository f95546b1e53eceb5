"""The records; installed, this folder is `transformer_lib.records`."""
