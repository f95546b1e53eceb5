"""The whole book as PDF and EPUB, made from the built pages: `make print`."""
