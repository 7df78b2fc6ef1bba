"""Move bytes. Nothing here knows of cars."""
