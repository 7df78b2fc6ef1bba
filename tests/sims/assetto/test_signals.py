"""The declared signals against the golden page, whose numbers were written by hand."""

import math
from pathlib import Path

import pytest
from helpers.assetto.foreign_pages import pages

from trailbrake import roles
from trailbrake.sims.assetto import codec, signals, spec
from trailbrake.sims.assetto.signals import PageSignalReader, compile_numbers
from trailbrake.state import Controls
from trailbrake.state.signals import match_signals
from trailbrake.transport.shm import SharedMemory

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


def select(*patterns):
    return match_signals(signals.list_signals(spec.LiveOptions()), patterns, where="test")


def test_a_link_fills_what_was_selected_and_nothing_else(session):
    link = session.connect()
    assert isinstance(link, roles.SignalSource)
    assert len(session.drive(link, Controls(), 5).signals) == 0
    link.select_signals(select("assetto.cg_height", "assetto.wheel_fl.look_x", "assetto.car_1.up_z"))
    values = session.drive(link, Controls(), 20).signals
    assert list(values) == ["assetto.cg_height", "assetto.wheel_fl.look_x", "assetto.car_1.up_z"]
    assert values["assetto.cg_height"] == pytest.approx(session.plant.cars[0].body.cg_height, abs=1e-6)
    assert values["assetto.wheel_fl.look_x"] == pytest.approx(1.0)
    assert values["assetto.car_1.up_z"] == pytest.approx(1.0)
    with pytest.raises(KeyError, match=r"assetto.slip is not selected"):
        values["assetto.slip"]


def test_a_car_that_is_not_there_is_nan(session):
    link = session.connect()
    link.select_signals(select("assetto.car_7.*"))
    assert all(map(math.isnan, session.drive(link, Controls(), 5).signals.values))


def test_numbers_are_read_in_the_order_that_was_requested():
    numbers = [signals.PageNumber(-1, offset, kind, factor) for offset, kind, factor in
               ((12, "f", 2.0), (0, "B", 1.0), (4, "f", 1.0), (1, "B", 1.0))]  # fmt: skip
    read = compile_numbers(numbers)
    data = bytes([3, 5, 0, 0]) + codec.encode_debug_lines([])[:0] + bytes.fromhex("0000803f 00000000 00000040")
    assert read(data) == (4.0, 3.0, 1.0, 5.0)
    assert all(map(math.isnan, read(data[:8])))


def test_a_removed_and_a_truncated_page_of_another_car(tmp_path):
    reader = PageSignalReader(select("assetto.car_2.up_z"), SharedMemory(tmp_path), mapped=False)
    folder = pages(tmp_path)
    assert math.isnan(reader.read_signals(b"", 0).values[0])
    page = codec.encode_public(codec.CarPublic(packet_id=1, up=(0.0, 0.5, 0.0)))
    (folder / spec.public_name(2)).write_bytes(page)
    assert math.isnan(reader.read_signals(b"", 100).values[0])  # it is looked for once a second
    assert reader.read_signals(b"", 400).values == (0.5,)
    reader.close()
