"""The drive loop, its clock, its supervisor, and sessions that join things up."""
