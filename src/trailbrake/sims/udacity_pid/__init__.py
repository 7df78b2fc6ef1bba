"""Udacity's self-driving car simulator, the build of the PID project: the distance to the line, no camera."""
