"""Rules that say from the game's pages and files why a drive does not work."""
