"""The racing line, the speed profile and the car's limits, from a track and a car."""
