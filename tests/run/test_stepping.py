"""`connect`: exact lockstep by hand."""

import pytest

from trailbrake import connect
from trailbrake import drive as drive_laps
from trailbrake.errors import UsageError
from trailbrake.record.reader import Recording
from trailbrake.run.options import DriveOptions
from trailbrake.state import Controls, WheelTorque
from trailbrake.state.tables import state_row


def drive(steps=400):
    with connect("beamng", simulink_time=0.0005) as sim:
        asked = (Controls(throttle=0.5, steer=0.001 * (k % 50)) for k in range(steps))
        return [state_row(sim.step(controls)) for controls in asked], sim.timing()


def test_a_step_is_one_message_and_runs_repeat_to_the_bit():
    (first, timing), (second, _) = drive(), drive()
    assert [row[0] for row in first[:3]] == pytest.approx([0.001, 0.0015, 0.002])
    assert list(map(repr, first)) == list(map(repr, second))
    assert timing["exact_lockstep"]
    assert (timing["steps"], timing["period_s"]) == (400, 0.0005)
    assert timing["simulated_s"] == pytest.approx(0.2)


def test_torques_drive_and_brake_the_car():
    idle, drive_it, brake_it = WheelTorque(), WheelTorque(drive_torque=800.0), WheelTorque(brake_torque=800.0)
    with connect("beamng") as sim:
        for _ in range(200):
            fast = sim.step(Controls(wheels=(idle, idle, drive_it, drive_it)))
        for _ in range(100):
            slow = sim.step(Controls(wheels=(brake_it,) * 4))
    assert fast.speed > 1.5
    assert slow.speed < fast.speed - 0.5


def test_custom_values():
    with connect("beamng") as sim:
        sim.step(Controls(), custom=[1.0])
        assert sim.custom == (0.0,) * 50
        with pytest.raises(UsageError, match="up to 50"):
            sim.step(Controls(), custom=[0.0] * 51)


def test_another_simulator_steps_too_and_says_what_it_has_not():
    with connect("assetto") as sim:
        assert sim.step(Controls(throttle=1.0)).time > 0.0
        with pytest.raises(UsageError, match="too many free values"):
            sim.step(Controls(), custom=[1.0])
    with pytest.raises(UsageError, match="no option simulink"), connect("beamng", simulink=1):
        pass


@pytest.mark.slow
def test_line_follow_drives_through_the_wire_and_the_recording_says_how_the_wire_did(tmp_path):
    summary = drive_laps(
        DriveOptions(sim="beamng", track="kartwerk", car="kart", laps=0, seconds=5.0, out=tmp_path, report=False)
    )
    assert summary["ended"] == "done"
    assert summary["mean_speed_mps"] > 3.0
    assert summary["host"]["coupling"]["step_s"] == 0.005
    wire = Recording.open(summary["recording"]).wire
    assert wire["link"]["received"] == wire["link"]["sent"] >= 1000
    assert wire["host"]["vehicles"][0]["accepted"] >= 999
    assert wire["host"]["vehicles"][0]["most_in_flight"] == 1
