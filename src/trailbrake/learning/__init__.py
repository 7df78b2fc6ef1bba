"""Learning roads and cars: what is driven for it, what is found in it, and the files that come of it."""
