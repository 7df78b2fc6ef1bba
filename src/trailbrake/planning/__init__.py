"""The racing line and the speed profile, from a track and a car."""
