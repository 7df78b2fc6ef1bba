"""Udacity's self-driving car simulator, the build of the MPC project: pose and waypoints, no camera."""
