"""Which packages the library has. Everything else about it stands in pyproject.toml, which cannot say this."""

from setuptools import find_packages, setup

# The records stand with the scripts that write them, where no search finds them under the name they are installed as.
setup(packages=[*find_packages(include=["transformer_lib", "transformer_lib.*"]), "transformer_lib.records"])
