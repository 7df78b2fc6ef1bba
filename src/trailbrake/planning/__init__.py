"""Plans from a track and a car: the line, its speeds, what laps teach of both, and the ways past rivals."""
