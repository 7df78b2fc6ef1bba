"""Reports of recordings."""
