"""Hosts and links of BeamNG in one process, on a clock of their own."""
