"""The version of the package, below everything that stores it."""

__version__ = "0.3.0"
