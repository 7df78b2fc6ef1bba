"""Conversion constants between SI and what simulators and people use, to multiply by; and other fixed numbers."""

import math

G = 9.80665  # m/s^2, standard gravity (exact by definition)
KMH = 1.0 / 3.6  # m/s per km/h
MPH = 0.44704  # m/s per mile per hour (exact)
RPM = 2.0 * math.pi / 60.0  # rad/s per revolution per minute
DEG = math.pi / 180.0  # rad per degree
PSI = 6894.757293168  # Pa per pound-force per square inch
NORMAL_95 = 1.96  # standard deviations about the mean that hold 95 % of a normal distribution
FREEZING_F = 32.0  # degF at 0 degC
FAHRENHEIT_PER_CELSIUS = 1.8  # degF


def wrap_angle(angle: float) -> float:
    """Return `angle` (rad) moved by whole turns into [-pi, pi]."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def fahrenheit_from_celsius(temperature: float) -> float:
    """Return degF for degC."""
    return temperature * FAHRENHEIT_PER_CELSIUS + FREEZING_F
