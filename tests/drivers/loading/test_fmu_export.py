"""Drivers as FMUs: the block inside, and the built file judged by FMPy: its validator, and its own simulation loop."""

import math
import os
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers import speed_hold
from trailbrake.drivers.loading import fmu_export as fmi
from trailbrake.drivers.loading.driver_registry import driver_names, load_driver
from trailbrake.drivers.loading.fmu_export import DriverModel, export_fmu
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.stepping import connect
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.record.recording_reader import Recording
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
    assert {"controls.steer", "controls.gear", "controls.rr_brake_torque"} <= set(model.outputs)


READS_MORE = """
from trailbrake import Controls

class Mine:
    NEEDS = {"speed"}
    USES = {"fuel_litres"}
    def reset(self, course): pass
    def act(self, state, dt):
        known = state.wheels[0].angular_velocity == state.wheels[0].angular_velocity
        return Controls(throttle=0.5 if known else 0.25, brake=0.0 * len(state.others))
"""


def test_fields_beyond_the_needs_are_found_and_are_unknown_until_set(tmp_path):
    path = tmp_path / "more.py"
    path.write_text(READS_MORE)
    found = DriverModel(str(path), "proving_ground", "hatchback").find_optional_fields()
    assert found == {"fuel_litres", "wheels.angular_velocity", "others"}
    model = DriverModel(str(path), "proving_ground", "hatchback", found - {"others"})
    assert set(model.inputs) == {"speed", "fuel_litres", *(f"{w}_angular_velocity" for w in ("fl", "fr", "rl", "rr"))}
    model.reset_driver()
    model.inputs["speed"] = 10.0
    model.step(0.0)
    assert model.outputs["controls.throttle"] == 0.25
    model.inputs["fl_angular_velocity"] = 30.0
    model.step(0.005)
    assert model.outputs["controls.throttle"] == 0.5


def test_gains_are_parameters():
    model = DriverModel("lane_keep", "proving_ground", "hatchback")
    assert model.parameters["speed"] == pytest.approx(17.8816)
    assert model.describe_parameter("speed") == "m/s: speed to hold"
    model.parameters["speed"] = 5.0
    model.reset_driver()
    assert model._driver.gains.speed == 5.0


def test_a_step_answers_the_inputs(mine):
    model = DriverModel(str(mine), "proving_ground", "hatchback")
    model.parameters["share"] = 0.5
    model.reset_driver()
    model.inputs.update(speed=10.0, gear=2.0, rr_load=3000.0)
    model.step(0.0)
    assert (model.outputs["controls.throttle"], model.outputs["controls.brake"], model.outputs["controls.steer"]) == (
        0.5,
        1.0,
        0.3,
    )
    assert model.outputs["controls.gear"] == 3.0
    assert math.isnan(model.outputs["controls.fl_drive_torque"])
    model.inputs["gear"] = math.nan
    model.step(0.005)
    assert model.outputs["controls.brake"] == 0.0
    assert math.isnan(model.outputs["controls.gear"])


def test_the_block_answers_as_the_driver_does():
    model = DriverModel("speed_hold_torque", "proving_ground", "hatchback")
    model.parameters["speed"] = 10.0
    model.reset_driver()
    plain = type(model._driver)(speed=10.0)
    plain.reset(None)
    for k in range(50):
        speed, yaw = 9.0 + 0.03 * k, 0.01 * k
        model.inputs.update(speed=speed, yaw=yaw)
        model.step(0.005 * k)
        answer = plain.act(CarState(speed=speed, yaw=yaw), 0.005 if k else 0.0)
        assert model.outputs["controls.steer"] == pytest.approx(answer.steer, abs=1e-12)
        assert model.outputs["controls.rl_drive_torque"] == pytest.approx(answer.wheels[2].drive_torque, abs=1e-9)


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
    assert fmi._c_identifier(driver) == name


@pytest.mark.fmi
def test_fmpy_finds_nothing_wrong_and_simulates_it(tmp_path):
    import fmpy
    from fmpy.validation import validate_fmu

    path = export_fmu("speed_hold", tmp_path, "proving_ground", "hatchback").path
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

    path = export_fmu(f"{mine}:Mine", tmp_path / "out" / "own.fmu", "proving_ground", "hatchback").path
    mine.unlink()
    result = simulate_fmu(str(path), stop_time=0.2, step_size=0.1, start_values={"driver.share": 0.75},
                          output=["controls.throttle"])  # fmt: skip
    assert result["controls.throttle"][-1] == 0.75


@pytest.mark.fmi
@pytest.mark.slow
def test_a_driver_as_an_fmu_drives_beamng_s_wire_alike(tmp_path):
    """Through the bytes of the coupling, a message every 5 ms: the block in the FMU and the driver as it is."""
    path = export_fmu("speed_hold_torque", tmp_path, "proving_ground", "hatchback").path
    driven = []
    for driver in ("speed_hold_torque", str(path)):
        options = DriveFlags(sim="beamng", driver=driver, track="proving_ground", car="hatchback", laps=0,
                               seconds=3.0, report=False, out=tmp_path / "out")  # fmt: skip
        driven.append(Recording.open(drive(options.make_spec())["recording"]))
    ours, through = driven
    assert ours.state["speed"][-1] > 5.0
    assert len(ours.state["time"]) == len(through.state["time"]) > 500
    for name in ("x", "y", "yaw", "speed", "fl_angular_velocity"):
        assert np.allclose(ours.state[name], through.state[name], rtol=0.0, atol=1e-9), name
    assert np.nanmax(through.controls["rr_drive_torque"]) > 100.0


@pytest.mark.fmi
@pytest.mark.slow
def test_line_follow_as_an_fmu_drives_the_lap_that_it_drives_as_it_is(tmp_path):
    """It reads the wheels' speeds, which it does not need: without them it limits no slip, and its lap is another."""
    made = export_fmu("line_follow", tmp_path, "kartwerk", "kart")
    assert "rl_angular_velocity" in made.optional
    assert "engine_speed" in made.optional
    times = []
    for driver in ("line_follow", str(made.path)):
        options = DriveFlags(sim="beamng", driver=driver, track="kartwerk", car="kart", laps=1, report=False,
                               out=tmp_path / "out")  # fmt: skip
        times.append(drive(options.make_spec())["laps"][0]["time_s"])
    assert times[0] == times[1]


@pytest.mark.fmi
def test_optional_inputs_of_a_built_file_may_stay_unknown(tmp_path):
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    script = tmp_path / "more.py"
    script.write_text(READS_MORE)
    made = export_fmu(str(script), tmp_path / "more.fmu", "proving_ground", "hatchback")
    assert made.inputs == ("speed",)
    assert made.optional == ("fuel_litres", *(f"{w}_angular_velocity" for w in ("fl", "fr", "rl", "rr")))
    assert made.missing == ("others",)
    assert validate_fmu(str(made.path)) == []
    silent = simulate_fmu(str(made.path), stop_time=0.2, step_size=0.1, output=["controls.throttle"])
    assert silent["controls.throttle"][-1] == 0.25
    signals = np.array([(0.0, 3.0), (0.2, 3.0)], dtype=[("time", float), ("state.fl_angular_velocity", float)])
    known = simulate_fmu(str(made.path), stop_time=0.2, step_size=0.1, input=signals, output=["controls.throttle"])
    assert known["controls.throttle"][-1] == 0.5
    driver = load_driver(str(made.path))
    assert {"speed"} == driver.NEEDS
    assert {"fuel_litres", "wheels.angular_velocity"} == driver.USES
    driver.reset(None)
    assert driver.act(CarState(speed=1.0), 0.0).throttle == 0.25


READS_TORQUES = """
from trailbrake import Controls

class Mine:
    NEEDS = {"speed", "wheels.brake_torque", "beamng.wheel_rr.braking_torque", "beamng.custom.1"}
    CUSTOM = 2

    def reset(self, course):
        self.steps = 0

    def act(self, state, dt):
        self.steps += 1
        braking = self.steps > 100  # the time of an FMU begins with its first step
        torque = state.signals["beamng.wheel_rr.braking_torque"]
        echo = state.signals["beamng.custom.1"]
        return Controls(throttle=0.0 if braking else 0.6 + 1e-4 * echo, brake=0.3 if braking else 0.0,
                        custom=(state.speed, torque + state.wheels[0].brake_torque))
"""


@pytest.mark.fmi
@pytest.mark.slow
def test_a_file_that_reads_torques_and_sends_free_values_does_so_in_drives_loops_and_fmus(tmp_path):
    script, echo = tmp_path / "mine.py", tmp_path / "echo.py"
    script.write_text(READS_TORQUES)
    echo.write_text("def custom(state, received):\n    return list(received[:2])\n")
    place = {"track": "plain", "car": "hatchback"}
    fmu = export_fmu(str(script), tmp_path / "mine.fmu", "plain", "hatchback").path
    selected = ("beamng.wheel_rr.braking_torque", "beamng.custom.1", "beamng.custom.2")
    driven = []
    for driver in (str(script), str(fmu)):
        options = DriveFlags(sim="beamng", driver=driver, laps=0, seconds=1.0, signals=selected, report=False,
                               out=tmp_path / "out", host=(f"custom={echo}",), **place)  # fmt: skip
        driven.append(Recording.open(drive(options.make_spec())["recording"]))
    ours, through = driven
    assert ours.signals["beamng.wheel_rr.braking_torque"].max() > 100.0
    assert ours.signals["beamng.custom.1"].max() == ours.state["speed"][1:-1].max() > 0.5
    for name in selected:
        assert ours.signals[name].tolist() == through.signals[name].tolist(), name
    assert ours.controls["throttle"].tolist() == through.controls["throttle"].tolist()

    driver = load_driver(str(script))
    driver.reset(None)
    with connect("beamng", signals=selected, **place) as sim:
        for _ in range(100):  # without the echo: the brakes' torques and the state's
            state = sim.state
            answer = driver.act(state, sim.period)
            assert answer.custom[0] == state.speed
            sim.step(answer)
        assert sim.state.signals["beamng.wheel_rr.braking_torque"] == sim.state.wheels[3].brake_torque


NO_NUMBERS = "an FMU's inputs are numbers"


@pytest.mark.fmi
@pytest.mark.slow
@pytest.mark.parametrize("name", driver_names())
def test_every_driver_is_a_valid_fmu_or_is_refused_in_one_line(name, tmp_path):
    needs = load_driver(name).NEEDS
    if needs & {"image", "line_ahead"} or name in ("convoy", "lane_switch"):  # the other cars
        with pytest.raises(TrailbrakeError, match=NO_NUMBERS):
            export_fmu(name, tmp_path, "proving_ground", "hatchback")
        return
    made = export_fmu(name, tmp_path, "proving_ground", "hatchback")  # FMPy's validator judges it
    driver = load_driver(str(made.path))
    driver.reset(None)
    at_rest = dict.fromkeys(("x", "y", "z", "yaw", "speed", "velocity_x", "velocity_y", "yaw_rate"), 0.0)
    assert math.isfinite(driver.act(CarState(**at_rest, acceleration_y=0.0, driving_line=0.0, gear=1), 0.0).throttle)


@pytest.mark.fmi
@pytest.mark.skipif(not shutil.which("cc") or sys.platform != "linux", reason="no C compiler")
def test_a_program_that_is_not_python_loads_and_steps_it_or_says_what_is_missing(tmp_path):
    python = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
    if ".so" not in python.name:
        pytest.skip("this Python has no library")
    path = export_fmu("heading_hold", tmp_path, "proving_ground", "hatchback").path
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    program, source = tmp_path / "importer", Path(__file__).with_name("fmi3_importer.c")
    subprocess.run(["cc", "-Wall", "-Werror", "-o", program, source, "-ldl"], check=True)
    described = ET.parse(tmp_path / "modelDescription.xml").getroot()
    numbers = {variable.get("name"): variable.get("valueReference") for variable in described.iter("Float64")}
    library = tmp_path / "binaries" / "x86_64-linux" / "heading_hold.so"
    command = [program, library, tmp_path / "resources", described.get("instantiationToken"), numbers["state.speed"],
               "21.5", numbers["controls.throttle"]]  # fmt: skip

    def run(packages):
        env = os.environ | {"LD_PRELOAD": str(python), "PYTHONPATH": os.pathsep.join(packages)}
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)

    driver = load_driver("heading_hold")
    driver.reset(None)
    assert float(run(sys.path).stdout) == driver.act(CarState(speed=21.5, yaw=0.0), 0.0).throttle
    alone = run([])
    assert alone.returncode == 4, alone
    assert f"heading_hold.fmu needs {fmi.NEEDED_PYTHON}; this is Python" in alone.stdout
    assert "Traceback" not in alone.stderr
