"""Every public name called with all kinds of arguments, every reader given all kinds of files: `make fuzz`."""
