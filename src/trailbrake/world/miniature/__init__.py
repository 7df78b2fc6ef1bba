"""The miniature world of camera racing: a small car between walls, seen by its camera."""
