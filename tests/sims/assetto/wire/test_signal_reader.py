"""Signals from pages: in a drive of our link, of our own car and of others, and from pages that are not whole."""

import math

import pytest
from helpers.assetto.foreign_pages import pages

from trailbrake import roles
from trailbrake.sims.assetto import codec, signals, spec
from trailbrake.sims.assetto.wire.signal_reader import PageSignalReader, compile_numbers
from trailbrake.state import Controls
from trailbrake.state.signals import match_signals
from trailbrake.transport.shm import SharedMemory


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
