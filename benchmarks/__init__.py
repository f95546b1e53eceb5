"""Scripts that run longer than a reader would wait. Each prints a table and writes a record: `make records NAME=...`."""
