"""`connect`: exact lockstep by hand."""

import math
import time

import pytest
from helpers.beamng.contracts import THROTTLE
from helpers.ports import free_udp_port
from helpers.processes import command
from helpers.waiting import let_pass

from trailbrake import connect
from trailbrake import drive as drive_laps
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.state import Controls, Phase, Pose, SimCommand, WheelTorque
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


def test_a_simulator_opens_in_its_usual_world():
    with connect("trend") as sim:
        assert sim.state.image is not None
    with pytest.raises(UsageError, match=r"^car: the miniature world has one car"), connect("trend", car="gt3"):
        pass


def test_custom_values():
    with connect("beamng") as sim:
        sim.step(Controls(), custom=[1.0])
        assert sim.custom == (0.0,) * 50
        with pytest.raises(UsageError, match="up to 50"):
            sim.step(Controls(), custom=[0.0] * 51)


def test_free_values_in_the_controls_are_checked_as_well():
    with connect("beamng", track="plain", car="hatchback") as sim:
        with pytest.raises(UsageError, match="too many free values, expected up to 50, got 51"):
            sim.step(Controls(custom=(0.0,) * 51))
        with pytest.raises(UsageError, match="free values are numbers, got 'fast'"):
            sim.step(Controls(custom=("fast",)))
        sim.step(Controls(custom=(1.0, 2.0)))


def test_another_simulator_steps_too_and_says_what_it_has_not():
    with connect("assetto") as sim:
        assert sim.step(Controls(throttle=1.0)).time > 0.0
        with pytest.raises(UsageError, match="too many free values"):
            sim.step(Controls(), custom=[1.0])
    with pytest.raises(UsageError, match="no option simulink"):
        connect("beamng", simulink=1)


def test_a_car_is_kept_over_cells_of_a_notebook_and_a_pause_is_a_state():
    sim = connect("assetto", track="plain", car="hatchback")
    began = sim.step(Controls()).time
    sim.send_command(SimCommand(pause=True))
    states = [sim.step(Controls()) for _ in range(30)]  # the host looks for a client's new page now and then
    assert states[-1].phase is Phase.PAUSED
    assert states[-1].time == states[-2].time < began + 20.0 * sim.period
    sim.send_command(SimCommand(pause=False))
    assert [sim.step(Controls()).phase for _ in range(3)][-1] is Phase.DRIVING
    assert sim.state.time > states[-1].time
    sim.close()
    sim.close()
    with pytest.raises(UsageError, match="the car has been given back"):
        sim.step(Controls())


def test_a_path_may_be_a_text(tmp_path):
    path = tmp_path / "contract.csv"
    path.write_text(THROTTLE)
    with connect("beamng", contract=str(path)) as sim:
        state = sim.step(Controls(throttle=1.0))
    assert (sim.period, state.time) == (0.0005, pytest.approx(0.001))


@pytest.mark.slow
def test_line_follow_drives_through_the_wire_and_the_recording_says_how_the_wire_did(tmp_path):
    summary = drive_laps(
        DriveFlags(
            sim="beamng", track="kartwerk", car="kart", laps=0, seconds=5.0, out=tmp_path, report=False
        ).make_spec()
    )
    assert summary["ended"] == "done"
    assert summary["mean_speed_mps"] > 3.0
    assert summary["host"]["coupling"]["step_s"] == 0.005
    wire = Recording.open(summary["recording"]).wire
    assert wire["link"]["received"] == wire["link"]["sent"] >= 1000
    assert wire["host"]["vehicles"][0]["accepted"] >= 999
    assert wire["host"]["vehicles"][0]["most_in_flight"] == 1


@pytest.mark.parametrize("name", ["forza", "assetto", "beamng"])
def test_a_camera_beside_the_wire(name):
    """Pictures for wires that have none: at the camera's own rate, equal in equal runs, and with every ability kept."""
    runs = []
    for _ in range(2):
        with connect(name, track="lakeside", car="hatchback", camera="world,size=64x48,rate=20") as sim:
            images = [sim.state.image]
            while sim.state.time < images[0].taken_at + 0.21:
                images.append(sim.step(Controls(throttle=1.0)).image)
            runs.append([image.data for image in images])
            if name == "beamng":
                sim.step(Controls(), custom=[1.0])
        assert images[0].pixels.shape == (48, 64, 3)
        assert images[-1].number == 5
        assert len({id(image) for image in images}) == 5
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_commands_signals_and_pictures_of_a_live_simulator(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    words = ("serve", "assetto", "--track=lakeside", "--car=hatchback", "--no-classic", "--view=page")
    with command(*words, shm=tmp_path) as host:
        host.until("ready ")
        with connect(
            "assetto", live=True, signals="assetto.turbo_boost", camera="world,size=64x48,rate=20", brakes_at_end=False
        ) as sim:
            images = [sim.state.image]
            until = time.monotonic() + 60.0
            while (images[-1] is None or images[-1].number < 3) and time.monotonic() < until:
                images.append(sim.step(Controls(throttle=1.0)).image)
            assert images[-1].pixels.shape == (48, 64, 3)
            assert len({id(image) for image in images}) <= 4  # it is the same one until a new one comes
            assert sim.state.signals["assetto.turbo_boost"] >= 0.0
            with pytest.raises(UsageError, match="command headlights: expected True or False"):
                sim.send_command(SimCommand(headlights=5))
            with pytest.raises(UsageError, match="too many free values"):
                sim.step(Controls(), custom=[1.0])
            target = Pose(sim.state.x + 30.0, sim.state.y, yaw=sim.state.yaw)
            sim.send_command(SimCommand(teleport=target))
            for _ in range(300):
                state = sim.step(Controls(brake=1.0))
            assert math.hypot(state.x - target.x, state.y - target.y) < 3.0
            sim.send_command(SimCommand(pause=True))  # at once, without a step
            let_pass(0.5)
            sim.send_command(SimCommand(pause=False))
            paused_at = sim.state.time
            assert 0.0 < sim.step(Controls()).time - paused_at < 0.4
            timing = sim.timing()
            assert not timing["exact_lockstep"]
            assert timing["steps"] > 300
            assert timing["pace"] is None


@pytest.mark.slow
def test_free_values_and_the_pace_of_a_live_simulator_that_waits(tmp_path):
    states, commands = free_udp_port(), free_udp_port()
    words = ("serve", "beamng", "--track=plain", "--car=hatchback", f"--send=127.0.0.1:{states}",
             f"--receive-port={commands}", "--speed=real")  # fmt: skip
    with command(*words, shm=tmp_path) as host:
        host.until("ready ")
        doors = {"listen": f"127.0.0.1:{states}", "peer": f"127.0.0.1:{commands}"}
        with connect("beamng", live=True, pace="driver", **doors) as sim:
            before = sim.state.time
            for _ in range(50):
                sim.step(Controls(throttle=0.5, custom=(1.0, 2.0)), custom=[3.0])
            assert len(sim.custom) == 50
            assert sim.state.time - before == pytest.approx(0.25, abs=0.05)  # not one state is lost
            let_pass(0.7)
            assert sim.step(Controls(steer=math.nan)).time - before == pytest.approx(0.255, abs=0.05)


@pytest.mark.slow
def test_a_live_pace_is_that_of_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    with command("serve", "assetto", "--track=plain", "--car=hatchback", "--no-classic", shm=tmp_path) as host:
        host.until("ready ")
        with connect("assetto", live=True, pace="driver") as sim:
            for _ in range(60):
                let_pass(0.01)
                sim.step(Controls(throttle=0.5))
            assert 0.01 <= sim.timing()["pace"]["step_time_s"] < 0.3
            assert sim.timing()["pace"]["answer_mean_s"] > 0.01


@pytest.mark.slow
def test_a_world_in_real_time_goes_on_by_itself():
    with connect("assetto", track="plain", car="hatchback", speed="real") as sim:
        first = sim.state.time
        let_pass(0.2)
        assert sim.step(Controls(throttle=1.0)).time > first + 0.1


@pytest.mark.slow
def test_what_is_wrong_is_said_by_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    with (
        pytest.raises(SimulatorError, match=r"expected an answer within 0.1 s.*serve assetto"),
        connect("assetto", live=True, wait=0.1),
    ):
        pass
    with pytest.raises(UsageError, match="no option simulink"), connect("assetto", live=True, simulink=1):
        pass
