"""What a driver or a learner may see of a car beyond its state, as arrays for many cars."""
