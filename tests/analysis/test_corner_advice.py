import math
from dataclasses import replace

import pytest

from trailbrake.analysis.corner_advice import PhaseLosses, advise_corner, advise_stretch
from trailbrake.analysis.corner_figures import CornerFigures

BEST = CornerFigures(
    time_s=10.0, brake_point=100.0, brake_end=150.0, brake_peak=0.9, turn_in=140.0, min_speed=20.0, min_speed_at=170.0,
    throttle_point=180.0, full_throttle=220.0, least_throttle=0.0, entry_speed=30.0, exit_speed=35.0,
    apex_offset=2.0, gear=3.0,
)  # fmt: skip
ENTRY, MIDDLE, EXIT = PhaseLosses(0.2, 0.0, 0.0), PhaseLosses(0.0, 0.2, 0.0), PhaseLosses(0.0, 0.0, 0.2)


@pytest.mark.parametrize(
    ("changes", "phases", "text"),
    [
        ({"brake_point": 88.0}, ENTRY, "Brake 12 m later, at 100 m"),
        ({"brake_point": 88.0, "brake_peak": 0.6}, ENTRY, "Brake 12 m later, at 100 m, and harder"),
        ({"brake_peak": 0.6}, ENTRY, "Brake harder, to 90% instead of 60%"),
        ({"brake_end": 160.0}, ENTRY, "Release the brake 10 m earlier, at 150 m"),
        ({"min_speed": 18.0}, MIDDLE, "Carry 7 km/h more, 72 km/h at the slowest place"),
        ({"min_speed": 18.0, "brake_point": 110.0}, MIDDLE, "by braking 10 m earlier"),
        ({"min_speed": 18.0, "brake_point": 80.0, "turn_in": 136.0}, MIDDLE, "and brake 20 m later"),
        ({"min_speed": 18.0, "turn_in": 130.0}, MIDDLE, "by turning in 10 m later"),
        ({"min_speed": 18.0, "turn_in": 150.0}, MIDDLE, "by turning in 10 m earlier"),
        ({"apex_offset": 0.5}, MIDDLE, "Drive 1.5 m further left at the apex"),
        ({"apex_offset": 3.0}, MIDDLE, "Drive 1.0 m further right at the apex"),
        ({"throttle_point": 195.0}, EXIT, "Open the throttle 15 m earlier, at 180 m"),
        ({"full_throttle": 240.0}, EXIT, "Be at full throttle 20 m earlier, at 220 m"),
        ({"gear": 4.0}, EXIT, "Drive the corner in gear 3 instead of 4"),
        ({"gear": 3.5}, EXIT, "Drive the corner in gear 3 instead of 4"),  # the median of two laps
        ({"gear": 2.5, "exit_speed": 33.0}, EXIT, "Drive the corner in gear 3 instead of 2"),
        ({"exit_speed": 33.0}, EXIT, "Leave the corner 7 km/h faster, at 126 km/h"),
        # An exit that is slow since the bend was is mended in the bend; one that is slow by the throttle is not.
        ({"min_speed": 17.0, "exit_speed": 31.0, "throttle_point": 184.0}, EXIT, "Carry 11 km/h more, 72 km/h at the"),
        ({"min_speed": 19.0, "exit_speed": 31.0, "throttle_point": 195.0}, EXIT, "Open the throttle 15 m earlier"),
        # Who enters too fast pays behind the turn-in.
        (
            {"entry_speed": 31.5, "brake_point": 108.0, "min_speed": 19.0},
            MIDDLE,
            "Enter 5 km/h slower, at 108 km/h, by braking 8 m earlier: ",
        ),
        ({"entry_speed": 31.5, "throttle_point": 195.0}, EXIT, "at 108 km/h, to open the throttle 15 m earlier: "),
        ({"entry_speed": 31.5, "brake_point": 88.0, "throttle_point": 195.0}, ENTRY, "Brake 12 m later"),
        ({}, EXIT, "Carry more speed through the exit"),
        # What is not in the phase that costs most is looked for in the others.
        ({"throttle_point": 195.0}, ENTRY, "Open the throttle 15 m earlier"),
    ],
)
def test_the_sentence_names_the_cause(changes, phases, text):
    said = advise_corner(replace(BEST, **changes), BEST, 0.2, phases)
    assert text in said
    assert "0.200 s lost" in said
    assert said.endswith(".")


def test_differences_are_those_of_the_rounded_numbers_beside_them():
    best = replace(BEST, brake_point=139.6, min_speed=20.1)  # 72.4 km/h
    assert "Brake 5 m later, at 140 m" in advise_corner(replace(best, brake_point=135.4), best, 0.2, ENTRY)
    assert "Carry 3 km/h more, 72 km/h" in advise_corner(replace(best, min_speed=19.1), best, 0.2, MIDDLE)  # 68.8


def test_flat_corners():
    flat = replace(BEST, brake_point=math.nan, brake_peak=0.0, throttle_point=math.nan, least_throttle=1.0)
    assert advise_corner(BEST, flat, 0.2, ENTRY).startswith("Do not brake here")
    assert advise_corner(replace(BEST, brake_point=math.nan), flat, 0.2, EXIT).startswith("Stay on the throttle")
    unknown = replace(flat, least_throttle=math.nan, exit_speed=37.0)
    assert advise_corner(BEST, unknown, 0.2, EXIT).startswith("Leave the corner 7 km/h faster")


def test_gains_and_equal_corners():
    assert advise_corner(BEST, BEST, -0.031, ENTRY) == "Keep it: 0.031 s faster than the reference."
    assert advise_corner(BEST, BEST, 0.004, ENTRY) == "As fast as the reference."
    assert advise_corner(BEST, BEST, math.nan, ENTRY) == "Not driven by both laps."


def test_the_stretch_before_the_first_corner():
    slow = replace(BEST, entry_speed=28.0)
    assert "7 km/h are missing at the start line" in advise_stretch(slow, BEST, 0.1)
    assert "from the start line" in advise_stretch(BEST, BEST, 0.1)
    assert advise_stretch(BEST, BEST, 0.0) == "As fast as the reference."
    assert advise_stretch(BEST, BEST, -0.1) == "0.100 s faster than the reference."
