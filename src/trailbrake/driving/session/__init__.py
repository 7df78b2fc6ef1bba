"""One drive from options to summary: connection, embedded world, scoring, progress."""
