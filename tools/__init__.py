"""The developer's commands: run a notebook, print the book, publish it."""

import sys

# With this package at hand, `import nbformat` makes a parser for web addresses in every script, for two seconds. No notebook
# needs it, and jsonschema goes on without.
sys.modules.setdefault("rfc3987_syntax", None)
