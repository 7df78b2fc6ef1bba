"""Searches for gains of a driver."""
