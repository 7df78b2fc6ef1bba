"""Udacity's simulator, MPC build: its name, its car, its waypoints, and what the wire carries.

Source: protocol page formula-trend, sections 1 and 9. Constants only; cheap to import.
"""

import math

NAME, TITLE = "udacity_mpc", "Udacity self-driving car simulator, MPC project"
LOCK = math.radians(25.0)  # rad, wheel angle at full lock
WAYPOINTS = 6  # in each telemetry, from the one just behind the car on
WAYPOINT_SPACING = 15.0  # m along the embedded world's road; the real simulator's are at uneven distances
SUPPLIES = frozenset(
    {"time", "sequence", "age", "phase", "x", "y", "yaw", "speed", "steer", "throttle", "line_ahead"}
)  # fmt: skip
ACCEPTS = frozenset({"steer", "throttle", "brake", "gear"})
