"""FMUs as drivers: files that are none, and real ones of two makers, FMI 2.0 and 3.0."""

import math
import zipfile

import numpy as np
import pytest
from helpers.manoeuvres import manoeuvre

from trailbrake.drivers.loading import fmu
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.drivers.loading.fmu import DESCRIPTION, FmuDriver, _controls_from_values, check_archive
from trailbrake.errors import DataError, UsageError
from trailbrake.state import CarState

# A controller of somebody who never heard of us but for the names of the columns.
SOMEBODY = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Real

class Somebody(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.speed = self.fl_load = self.throttle = self.fr_brake_torque = 0.0
        for name in ("speed", "{odd}"):
            setattr(self, name, 0.0)
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        for name in ("throttle", "fr_brake_torque"):
            self.register_variable(Real(name, causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        self.throttle = 0.1 * (20.0 - self.speed)
        self.fr_brake_torque = current_time
        return True
"""


def build(folder, odd="fl_load"):
    from pythonfmu.builder import FmuBuilder

    script = folder / "somebody.py"
    script.write_text(SOMEBODY.replace("{odd}", odd))
    return FmuBuilder.build_FMU(script, dest=folder)


def test_outputs_become_controls_and_silence_leaves_alone():
    controls = _controls_from_values({"steer": 0.25, "gear": 3.0, "brake": math.nan, "rr_drive_torque": 50.0})
    assert (controls.steer, controls.gear, controls.brake) == (0.25, 3, 0.0)
    assert controls.wheels[3].drive_torque == 50.0
    assert math.isnan(controls.wheels[0].drive_torque)
    assert math.isnan(controls.wheels[3].brake_torque)
    assert _controls_from_values({}).wheels is None


def test_files_that_are_none(tmp_path):
    with pytest.raises(UsageError, match="no such driver file"):
        load_driver(str(tmp_path / "none.fmu"))


@pytest.mark.fmi
@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_fmus(tmp_path, content):
    path = tmp_path / "bad.fmu"
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as an FMU"):
        load_driver(str(path))


@pytest.mark.fmi
def test_somebody_else_s_controller_of_fmi_2(tmp_path):
    driver = load_driver(str(build(tmp_path)))
    assert {"speed", "wheels.load"} == driver.NEEDS
    for _ in range(2):  # again after a reset
        driver.reset(None)
        state = CarState(speed=15.0)
        first = driver.act(state, 0.0)
        assert (first.throttle, first.steer) == (pytest.approx(0.5), 0.0)
        assert first.wheels[1].brake_torque == 0.0
        second = driver.act(CarState(speed=18.0), 0.02)
        assert second.throttle == pytest.approx(0.2)
        assert second.wheels[1].brake_torque == pytest.approx(
            0.005
        )  # its clock: it suggests no step, so the first was 5 ms


@pytest.mark.fmi
def test_names_that_mean_nothing_here(tmp_path):
    with pytest.raises(DataError, match=r"sped.*speed"):
        load_driver(str(build(tmp_path, odd="sped")))


@pytest.mark.fmi
def test_our_own_driver_through_an_fmu_drives_alike(tmp_path):
    from trailbrake.drivers.loading.fmu_export import export_fmu

    path = export_fmu("speed_hold_torque", tmp_path, "proving_ground", "hatchback").path
    ours = manoeuvre(load_driver("speed_hold_torque"), 3.0, speed=20.0)
    through = manoeuvre(FmuDriver(path), 3.0, speed=20.0)
    for name, values in ours.items():
        assert np.allclose(values, through[name], rtol=0.0, atol=1e-9), name


@pytest.mark.fmi
def test_the_checker_takes_it(tmp_path):
    from trailbrake import check_driver
    from trailbrake.drivers.loading.fmu_export import export_fmu

    assert check_driver(str(export_fmu("heading_hold", tmp_path, "proving_ground", "hatchback").path)) == []


@pytest.mark.fmi
def test_its_parameters_are_constants_of_the_driver(tmp_path):
    from trailbrake.drivers.loading.fmu_export import export_fmu

    path = str(export_fmu("speed_hold", tmp_path, "proving_ground", "hatchback").path)
    for text, throttle in (("speed=20", 0.0), ("driver.speed=31", 0.4)):
        driver = load_driver(path, None, [text])
        driver.reset(None)
        assert driver.act(CarState(speed=30.0, yaw=0.0), 0.0).throttle == pytest.approx(throttle)
    with pytest.raises(UsageError, match="no real parameter sped"):
        load_driver(path, None, ["sped=3"])


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "a.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(DESCRIPTION, b"<x/>" + b" " * 96)
        packed.writestr("binaries/linux64/a.so", bytes(900))
    return path


@pytest.mark.parametrize(
    ("limit", "value", "line"),
    [
        ("MAX_UNPACKED", 999, "expected 999 bytes unpacked at most, got 1000"),
        ("MAX_DESCRIPTION", 99, "expected 99 bytes of modelDescription.xml at most, got 100"),
        ("MAX_MEMBERS", 1, "expected 1 files at most, got 2"),
    ],
)
def test_an_archive_beyond_a_limit_is_refused_in_one_line(archive, monkeypatch, limit, value, line):
    monkeypatch.setattr(fmu, limit, value + 1)
    check_archive(archive)
    monkeypatch.setattr(fmu, limit, value)
    with pytest.raises(DataError, match="too large for an FMU") as caught:
        check_archive(archive)
    assert line in str(caught.value)
    assert str(archive) in str(caught.value)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path):
    path = tmp_path / "bomb.fmu"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a", bytes(1_000_000))
        packed.filelist *= 2  # the directory lets two names share their bytes: both count
        packed.filelist[0].file_size = 1_500_000_000
    assert path.stat().st_size < 10_000
    with pytest.raises(DataError, match=r"too large for an FMU.*got 3000000000"):
        check_archive(path)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(17)])
def test_what_is_no_archive_is_said_to_be_none(tmp_path, content):
    path = tmp_path / "a.fmu"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be read as an FMU.*expected a zip archive"):
        check_archive(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot read the FMU"):
        check_archive(tmp_path / "none.fmu")
