"""The live page: what a car does now, in a browser on this machine, for every simulator alike."""
