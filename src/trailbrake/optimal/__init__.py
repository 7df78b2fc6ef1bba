"""Minimum-time optimal control of a car on a road, offline (extra `limit`)."""
