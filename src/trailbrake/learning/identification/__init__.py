"""Identification of a car from recordings of its drives: physics-based least squares, priors, and uncertainties."""
