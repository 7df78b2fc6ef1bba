"""From a track and a car to a line, a speed profile and the car's limits."""
