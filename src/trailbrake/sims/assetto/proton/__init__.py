"""Assetto Corsa under Proton: shared pages of Windows programs, bound to files on Linux."""
