"""Learning to drive from recordings: `trailbrake train`."""
