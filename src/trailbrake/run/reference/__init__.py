"""Reference laps: the quickest clean laps found in the embedded world itself."""
