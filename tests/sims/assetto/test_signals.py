"""The declared signals against the golden page, whose numbers were written by hand."""

from pathlib import Path

import pytest

from trailbrake.sims.assetto import codec, signals, spec
from trailbrake.sims.assetto.wire.signal_reader import compile_numbers
from trailbrake.state.signals import match_signals

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "assetto"
DECLARED = signals.list_signals(spec.LiveOptions())


def golden(case):
    return bytes.fromhex((GOLDEN / f"{case}.hex").read_text())


def read(page, *names):
    return compile_numbers([signals.find_number(name) for name in names])(page)


def test_every_number_of_the_car_page_is_a_field_or_a_signal():
    """Change one number of the page after the other: the state or a signal shows it, but for the gaps of the layout."""
    from trailbrake.sims.assetto.convert import state_from_wire

    own = [s.name for s in DECLARED if signals.find_number(s.name).car < 0]
    page = golden("car")

    def shown(data):
        return repr(state_from_wire(codec.decode_car_subset(data))), read(data, *own)

    before = shown(page)
    # Said twice on the page: the velocity in the world is local_velocity turned, and `up` has three numbers for a roll.
    twice = {40, 44, 48, 76, 80, 84}
    for offset in set(range(0, len(page), 4)) - twice:
        word = bytes([page[offset] ^ 1, *(b ^ 0x40 for b in page[offset + 1 : offset + 4])])
        changed = page[:offset] + word + page[offset + 4 :]
        assert shown(changed) != before, f"nothing shows the number at {offset}"


def test_signals_have_our_axes_and_units():
    page = golden("car")
    assert read(page, "assetto.turbo_boost", "assetto.final_ff", "assetto.final_pure_ff") == (1.5, 0.25, 0.5)
    assert read(page, "assetto.drivetrain_torque", "assetto.pit_limiter", "assetto.cg_height") == (400.0, 0.0, 0.5)
    assert read(page, *(f"assetto.car_damage.{zone}" for zone in signals.DAMAGE_ZONES)) == (1.0, 2.0, 3.0, 4.0, 5.0)
    # Wheel 3: its 30 numbers are 300, 301, ...; the velocity is at 15 to 17: left, up, forward.
    assert read(page, *(f"assetto.wheel_rr.velocity_{axis}" for axis in "xyz")) == (317.0, 315.0, 316.0)
    assert read(page, "assetto.wheel_rr.dirty_level", "assetto.wheel_rr.slip") == (323.0, 327.0)
    assert read(page, "assetto.wheel_fl.position_z", "assetto.wheel_fl.look_x") == (1.0, 11.0)
    public = golden("public")
    assert read(public, *(f"assetto.car_3.up_{axis}" for axis in "xyz")) == (0.0, 0.0, 1.0)
    assert read(public, "assetto.car_3.acceleration_z") == (pytest.approx(9.80665),)
    assert read(public, "assetto.car_3.damage_centre") == (5.0,)


def test_names_are_unique_and_matched_by_patterns():
    names = [s.name for s in DECLARED]
    assert len(set(names)) == len(names)
    assert len(match_signals(DECLARED, ["assetto.wheel_fl.*"], where="--signals")) == 17
    assert len(match_signals(DECLARED, ["assetto.car_damage.*"], where="--signals")) == 5
