"""The live pages as text, from golden bytes."""

import sys
from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.sims.assetto import codec, sniff, spec
from trailbrake.sims.assetto.sniff import SniffOptions, watch
from trailbrake.transport.shm import SharedMemory

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "assetto"
PAGES = {
    "acpmf/physics": "acpmf_physics", "acpmf/graphics": "acpmf_graphics", "acpmf/static": "acpmf_static",
    "car": spec.car_name(0), "controls": spec.controls_name(0), "public": spec.public_name(0),
    "sim_state_v1": spec.SIM_STATE_V1,
}  # fmt: skip


@pytest.fixture
def memory(tmp_path):
    found = SharedMemory(tmp_path)
    pages = [found.create_page(name) for name in PAGES.values()]
    for case, page in zip(PAGES, pages, strict=True):
        page.write(bytes.fromhex((GOLDEN / f"{case}.hex").read_text()))
    yield found
    for page in pages:
        page.close()


def test_fields_have_pages_names_and_units(memory):
    with watch(SniffOptions(), doors=memory.folder) as look:
        shown = {(f.group, f.name): (f.value, f.unit) for f in look()}
    assert shown["acpmf_physics", "speed_kmh"] == ("142.500", "km/h")
    assert shown["acpmf_physics", "wheel_load"] == ("3000.000 3100.000 3200.000 3300.000", "N")
    assert shown["acpmf_graphics", "status"] == ("2 live", "")
    assert shown["acpmf_graphics", "session"] == ("3 hotlap", "")
    assert shown["acpmf_graphics", "last_time"] == ("1:47:352", "")
    assert shown["acpmf_static", "track"] == ("ks_nurburgring", "")
    assert shown["Car0", "packet_id"] == ("777", "")
    assert shown["Car0", "steer"] == ("-90.000", "deg, right +")
    assert shown["Car0", "wheels load"][1] == "N"
    assert shown["Car0", "contact_point FL"] == ("3.000 4.000 5.000", "m")
    assert shown["CarControls0", "steer"] == ("-0.750", "-1..1, right +")
    assert shown["SimState v1", "time_scale"] == ("10.000", "")
    assert {group for group, _ in shown} == {
        "Car0", "CarControls0", "CarPublic0", "SimState v1", "acpmf_physics", "acpmf_graphics", "acpmf_static"
    }  # fmt: skip


def test_every_unit_is_of_a_field_that_there_is():
    names = {name for kind in (codec.CarData, codec.CarControls, codec.CarPublic, codec.SimState, codec.WheelData)
             for name in kind._fields}  # fmt: skip
    assert set(sniff.UNITS) <= names


@pytest.mark.skipif(sys.platform == "win32", reason="a section stays while anybody holds it")
def test_what_changes_is_seen_and_what_goes_is_left_out(memory):
    with watch(SniffOptions(), doors=memory.folder) as look:
        look()
        memory.open_page(spec.car_name(0)).write(b"\x0a\x03")
        fields = {(f.group, f.name): f.value for f in look()}
        assert fields["Car0", "packet_id"] == "778"
        page = memory.open_page(spec.SIM_STATE_V1)
        page.close(remove=True)
        assert "SimState v1" not in {f.group for f in look()}


def test_the_wheels_vectors_have_a_row_for_each_wheel(memory):
    with watch(SniffOptions(), doors=memory.folder) as look:
        shown = {f.name: (f.value, f.unit) for f in look() if f.group == "Car0"}
    for name, unit in (("position", "m"), ("contact_normal", ""), ("look", ""), ("side", ""), ("velocity", "m/s")):
        assert all(shown[f"{name} {wheel}"][1] == unit for wheel in sniff.WHEELS)
    assert shown["velocity RR"][0] == "315.000 316.000 317.000"


def test_the_lines_of_a_client_are_counted_and_the_first_are_shown(memory):
    page = memory.create_page(spec.DEBUG_LINES, codec.DEBUG_SIZE)
    lines = [codec.LineRecord((float(k), 0.0, 0.5), (float(k), 1.0, 0.5), 0xFF00FF00) for k in range(7)]
    page.write(codec.encode_debug_lines(lines))
    with watch(SniffOptions(), doors=memory.folder) as look:
        shown = {f.name: (f.value, f.unit) for f in look() if f.group == "DebugLines"}
        assert shown["count"] == ("7", "")
        assert shown["line 4"] == ("4.000 0.000 0.500 4.000 1.000 0.500", "m")
        assert shown["line 4 color"] == ("0xFF00FF00", "")
        assert "line 5" not in shown
        page.write((-1).to_bytes(4, "little", signed=True))
        (count,) = [f.value for f in look() if f.group == "DebugLines"]
        assert "negative count of lines" in count
    page.close()


def test_another_car(memory):
    with watch(SniffOptions(car_index=3), doors=memory.folder) as look:
        assert "Car3" not in {f.group for f in look()}


def test_nothing_there(tmp_path):
    with (
        pytest.raises(UsageError, match="none of the game's pages is there; start the game and a session"),
        watch(SniffOptions(), doors=tmp_path),
    ):
        pass
