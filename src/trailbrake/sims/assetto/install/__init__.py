"""The game's installation: where it is, its tracks and cars, and the files that we edit."""
