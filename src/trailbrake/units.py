"""Conversion constants between SI and what simulators and people use. Multiply to get SI."""

import calendar
import math
import re

G = 9.80665  # m/s^2, standard gravity (exact by definition)
KMH = 1.0 / 3.6  # m/s per km/h
MPH = 0.44704  # m/s per mile per hour (exact)
RPM = 2.0 * math.pi / 60.0  # rad/s per revolution per minute
DEG = math.pi / 180.0  # rad per degree
PSI = 6894.757293168  # Pa per pound-force per square inch
FREEZING_F = 32.0  # degF at 0 degC
FAHRENHEIT_PER_CELSIUS = 1.8  # degF
_ISO_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)([.,]\d+)?)?\s*(?:Z|([+-])(\d\d):?(\d\d)?)?)?", re.ASCII
)


def wrap_angle(angle: float) -> float:
    """Return `angle` (rad) moved by whole turns into [-pi, pi]."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def fahrenheit_from_celsius(temperature: float) -> float:
    """Return degF for degC."""
    return temperature * FAHRENHEIT_PER_CELSIUS + FREEZING_F


def parse_iso_time(text: str) -> float:
    """Return s since 1970 of a moment as ISO 8601 writes it (UTC where it names no zone); NaN for other text."""
    match = _ISO_TIME.fullmatch(text.strip())
    if match is None:
        return math.nan
    parts = [int(part or 0) for part in match.groups()[:6]]
    if not (1 <= parts[1] <= 12 and 1 <= parts[2] <= calendar.monthrange(parts[0] or 1, parts[1])[1]):
        return math.nan
    if parts[3] > 23 or parts[4] > 59 or parts[5] > 60:
        return math.nan
    zone = 3600.0 * int(match[9] or 0) + 60.0 * int(match[10] or 0)
    share = float((match[7] or ".0").replace(",", "."))
    return calendar.timegm(tuple(parts)) + share - (-zone if match[8] == "-" else zone)
