"""The version of the package, below everything that stores it."""

__version__ = "0.2.0"
