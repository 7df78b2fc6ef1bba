"""Udacity's simulator, term 1: its name, its car and camera, and what the wire carries.

Source: protocol page formula-trend, sections 1 and 9. Constants only; cheap to import.
"""

import math

from trailbrake.units import MPH

NAME, TITLE = "udacity", "Udacity self-driving car simulator, term 1 (behavioural cloning)"
LOCK = math.radians(25.0)  # rad, wheel angle at full lock
TOP_SPEED = 30.0 * MPH  # m/s
IMAGE_SIZE = HEIGHT, WIDTH = 160, 320  # pixels, as recordings have it
VERTICAL_FOV = math.radians(60.0)
# Fields of `world.pinhole_camera.PinholeCamera`: behind the windscreen, at a driver's eye. The place is an estimate.
CAMERA = {
    "width": WIDTH,
    "height": HEIGHT,
    "fov": 2.0 * math.atan(WIDTH / HEIGHT * math.tan(0.5 * VERTICAL_FOV)),
    "forward": 0.5,
    "above": 1.4,
}
SUPPLIES = frozenset({"time", "sequence", "age", "phase", "speed", "steer", "throttle", "image"})
ACCEPTS = frozenset({"steer", "throttle", "brake", "gear"})
