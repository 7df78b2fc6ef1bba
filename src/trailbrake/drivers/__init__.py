"""One file per driver."""
