"""Judges drivers: cars x tracks x drivers x seeds x conditions, each cell a drive through a simulator's wire."""
