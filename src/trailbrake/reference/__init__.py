"""Reference laps: the quickest clean lap that a search in the embedded world finds."""
