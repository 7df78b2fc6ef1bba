"""Drivers as FMUs: the block inside, and the built file judged by FMPy: its validator, and its own simulation loop."""

import math

import numpy as np
import pytest

from trailbrake.drivers import speed_hold
from trailbrake.errors import DataError, UsageError
from trailbrake.record.reader import Recording
from trailbrake.run import fmi
from trailbrake.run.fmi import DriverModel, export_fmu
from trailbrake.run.options import DriveOptions
from trailbrake.run.session import drive
from trailbrake.state import CarState

USER = """
from trailbrake import Controls

class Mine:
    NEEDS = {"speed", "gear", "wheels.load"}
    def __init__(self, share: float = 0.25, name: str = "x"):
        self.share = share
    def reset(self, course):
        self.length = course.track.road.length
    def act(self, state, dt):
        return Controls(throttle=self.share, brake=1.0 if dt == 0.0 else 0.0, steer=state.wheels[3].load / 1e4,
                        gear=None if state.gear is None else state.gear + 1)
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(USER)
    return path


def test_needs_become_inputs_and_numbers_parameters(mine):
    model = DriverModel(str(mine), "proving_ground", "hatchback")
    assert set(model.inputs) == {"speed", "gear", "fl_load", "fr_load", "rl_load", "rr_load"}
    assert model.parameters == {"share": 0.25}
    assert {"steer", "gear", "rr_brake_torque"} <= set(model.outputs)


def test_a_step_answers_the_inputs(mine):
    model = DriverModel(str(mine), "proving_ground", "hatchback")
    model.parameters["share"] = 0.5
    model.begin()
    model.inputs.update(speed=10.0, gear=2.0, rr_load=3000.0)
    model.step(0.0)
    assert (model.outputs["throttle"], model.outputs["brake"], model.outputs["steer"]) == (0.5, 1.0, 0.3)
    assert model.outputs["gear"] == 3.0
    assert math.isnan(model.outputs["fl_drive_torque"])
    model.inputs["gear"] = math.nan
    model.step(0.005)
    assert model.outputs["brake"] == 0.0
    assert math.isnan(model.outputs["gear"])


def test_the_block_answers_as_the_driver_does():
    model = DriverModel("speed_hold_torque", "proving_ground", "hatchback")
    model.parameters["speed"] = 10.0
    model.begin()
    plain = type(model._driver)(speed=10.0)
    plain.reset(None)
    for k in range(50):
        speed, yaw = 9.0 + 0.03 * k, 0.01 * k
        model.inputs.update(speed=speed, yaw=yaw)
        model.step(0.005 * k)
        answer = plain.act(CarState(speed=speed, yaw=yaw), 0.005 if k else 0.0)
        assert model.outputs["steer"] == pytest.approx(answer.steer, abs=1e-12)
        assert model.outputs["rl_drive_torque"] == pytest.approx(answer.wheels[2].drive_torque, abs=1e-9)


def test_what_is_no_number_cannot_be_an_input(tmp_path):
    path = tmp_path / "sees.py"
    path.write_text(
        "class Sees:\n    NEEDS = {'image'}\n    def reset(self, c): pass\n    def act(self, s, dt): pass\n"
    )
    with pytest.raises(UsageError, match="image"):
        DriverModel(str(path), "proving_ground", "hatchback")


@pytest.mark.parametrize(("driver", "track"), [("speed_hld", "proving_ground"), ("speed_hold", "nowhere")])
def test_unknown_names_are_said_before_anything_is_built(driver, track, tmp_path):
    pytest.importorskip("pythonfmu3")
    with pytest.raises((UsageError, DataError)):
        export_fmu(driver, tmp_path / "x.fmu", track, "hatchback")
    assert not (tmp_path / "x.fmu").exists()


@pytest.mark.parametrize(
    ("driver", "name"), [("speed_hold", "speed_hold"), ("a/b c.py:D", "b_c"), ("3.py", "driver_3")]
)
def test_names_that_c_takes(driver, name):
    assert fmi._identifier(driver) == name


@pytest.mark.fmi
def test_fmpy_finds_nothing_wrong_and_simulates_it(tmp_path):
    import fmpy
    from fmpy.validation import validate_fmu

    path = export_fmu("speed_hold", tmp_path, "proving_ground", "hatchback")
    assert path == tmp_path / "speed_hold.fmu"
    assert validate_fmu(str(path)) == []
    assert {"linux64", "win64"} <= set(fmpy.supported_platforms(str(path)))
    times = np.array([0.0, 0.1, 0.2, 0.3])
    signals = np.array([(0.0, 9.5, 0.1), (0.1, 9.6, 0.1), (0.2, 9.7, 0.2), (0.3, 10.4, 0.2)],
                       dtype=[("time", float), ("state.speed", float), ("state.yaw", float)])  # fmt: skip
    result = fmpy.simulate_fmu(
        str(path), start_time=0.0, stop_time=0.3, step_size=0.1, output_interval=0.1, input=signals,
        start_values={"driver.speed": 10.0}, output=["controls.throttle", "controls.brake", "controls.steer"],
    )  # fmt: skip
    driver = speed_hold.Driver(speed=10.0)
    driver.reset(None)
    answers = [driver.act(CarState(speed=s, yaw=y), 0.1 if t else 0.0) for t, s, y in signals[:3]]
    # FMPy's rows hold the outputs at the end of each step, which answers the inputs of its beginning.
    assert result["controls.throttle"][1:] == pytest.approx([a.throttle for a in answers])
    assert result["controls.steer"][1:] == pytest.approx([a.steer for a in answers])
    assert len(result["time"]) == len(times)


@pytest.mark.fmi
def test_a_user_s_file_goes_into_the_fmu(mine, tmp_path):
    from fmpy import simulate_fmu

    path = export_fmu(f"{mine}:Mine", tmp_path / "out" / "own.fmu", "proving_ground", "hatchback")
    mine.unlink()
    result = simulate_fmu(str(path), stop_time=0.2, step_size=0.1, start_values={"driver.share": 0.75},
                          output=["controls.throttle"])  # fmt: skip
    assert result["controls.throttle"][-1] == 0.75


@pytest.mark.fmi
@pytest.mark.slow
def test_a_driver_as_an_fmu_drives_beamng_s_wire_alike(tmp_path):
    """Through the bytes of the coupling, a message every 5 ms: the block in the FMU and the driver as it is."""
    path = export_fmu("speed_hold_torque", tmp_path, "proving_ground", "hatchback")
    driven = []
    for driver in ("speed_hold_torque", str(path)):
        options = DriveOptions(sim="beamng", driver=driver, track="proving_ground", car="hatchback", laps=0,
                               seconds=3.0, report=False, out=tmp_path / "out")  # fmt: skip
        driven.append(Recording.open(drive(options)["recording"]))
    ours, through = driven
    assert ours.state["speed"][-1] > 5.0
    assert len(ours.state["time"]) == len(through.state["time"]) > 500
    for name in ("x", "y", "yaw", "speed", "fl_angular_velocity"):
        assert np.allclose(ours.state[name], through.state[name], rtol=0.0, atol=1e-9), name
    assert np.nanmax(through.controls["rr_drive_torque"]) > 100.0
