"""The simulator's end, with our link and with bytes of its own making."""

import math

import pytest
from helpers.beamng.plain_controller import PlainController

from trailbrake.errors import DataError, SimulatorError
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.spec import ServeOptions
from trailbrake.state import Controls
from trailbrake.transport.udp import UdpSocket

NAN = math.nan


def test_nothing_happens_before_the_controller_is_there(session):
    session.serve()
    session.tick(50)
    assert session.plant.steps == 0
    assert session.host.waits
    state = session.exchange(session.connect())
    assert (state.sequence, state.time) == (0, 0.005)
    assert session.plant.steps == 10


@pytest.mark.parametrize(("simulink", "steps"), [(0.0005, 1), (0.001, 2), (0.005, 10), (0.0012, 3)])
def test_lockstep_goes_a_period_per_exchange(session, simulink, steps):
    session.serve(simulink_time=simulink)
    link = session.connect(simulink_time=simulink)
    for k in range(20):
        assert session.exchange(link).sequence == k
        assert session.plant.steps == (k + 1) * steps
    assert link.counters.resyncs == session.host.read_counters()["timeouts"] == 0


def test_all_vehicles_wait_for_all(session):
    session.serve(cars=2, simulink_time=0.0005)
    a, b = session.connect(simulink_time=0.0005), session.connect(simulink_time=0.0005, vehicle=1)
    session.tick()
    assert (a.read(session.now).x, b.read(session.now).x) == (0.0, 10.0)
    a.write(Controls(throttle=0.5))
    session.tick(20)
    assert session.plant.steps == 2, "the other has not answered"
    b.write(Controls(throttle=0.25))
    session.tick(2)
    assert [c.throttle for c in session.plant.inputs[2]] == [0.5, 0.25]


def test_slow_banks_change_once_per_graphics_frame(session):
    session.serve(simulink_time=0.0005, gfx_banks="slow", frame_rate=500.0)
    controller = PlainController(session)
    seen = []
    for k in range(12):
        seen.append(controller.message())
        controller.send(k + 1.0, 0.05 * (k + 1))
    inputs = [m[2] for m in seen]  # throttle_input: in bank A, follows what was sent
    assert len(set(inputs[4:8])) <= 2
    assert len(set(inputs)) <= 4
    assert len({m[14] for m in seen[2:]}) == 10, "the speed is new each time"
    controller.close()


def test_latched_inputs_wait_for_the_frame_and_torques_do_not(session):
    session.serve(simulink_time=0.0005, input_latch="frame", frame_rate=100.0)
    controller = PlainController(session)
    for k in range(30):
        controller.message()
        controller.send(k + 1.0, 0.5, 0.0, 0.0, NAN, *[-1.0] * 4, *[2.0] * 4, 1.0)
    throttles = [inputs[0].throttle for inputs in session.plant.inputs]
    torqued = [inputs[0].wheels is not None for inputs in session.plant.inputs]
    assert torqued.index(True) == 2
    assert throttles.index(0.5) == 20, "a frame is 20 steps"
    controller.close()


def test_a_burst_does_its_steps_back_to_back(session):
    session.serve(simulink_time=0.0005, ping_time=0.01, burst=10)
    session.connect(simulink_time=0.0005, ping_time=0.01)
    steps = []
    for _ in range(20):
        session.tick()
        steps.append(session.plant.steps)
    assert steps == [0] * 9 + [10] * 10 + [20]


def test_custom_values_both_ways(session, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def custom(state, received):\n    return [state.time, received[0] * 2.0]\n")
    session.serve(simulink_time=0.0005, custom=path)
    link = session.connect(simulink_time=0.0005)
    link.custom_out = (21.0, *[0.0] * 49)
    session.exchange(link, times=3)
    assert link.custom == (0.0015, 42.0, *[0.0] * 48)


def test_a_broken_custom_file_is_one_line(session, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def custom(state, received):\n    return 1 / 0\n")
    session.serve(simulink_time=0.0005, custom=path)
    session.connect(simulink_time=0.0005)
    with pytest.raises(DataError, match=r"mine\.py:2: custom\(\) raised ZeroDivisionError"):
        session.tick(2)


def test_figures(session):
    session.serve(simulink_time=0.0005, ping_time=0.002)
    link = session.connect(simulink_time=0.0005, ping_time=0.002)
    session.exchange(link, times=50)
    session.tick(100)  # runs into the end of the window, and waits
    session.exchange(link)
    session.tick(3)
    said = session.host.read_counters()
    vehicle = said["vehicles"][0]
    assert said["coupling"] == {
        "step_s": 0.0005, "send_skips": 0, "unanswered": 4, "send_offset": 1, "window_width": 4, "send_wait": 4,
    }  # fmt: skip
    assert vehicle["most_in_flight"] == 4
    assert vehicle["overruns"] >= 1
    assert vehicle["blocked_s"] == pytest.approx(vehicle["longest_blocked_s"], rel=0.2)
    assert 0.04 < vehicle["longest_blocked_s"] < 0.06
    assert vehicle["round_trip_p50_us"] > 0.0


@pytest.mark.parametrize("faults", [{"loss": 0.01}, {"duplicate": 0.05}, {"reorder": 0.02}, {"jitter": 0.001},
                                    {"loss": 0.01, "duplicate": 0.02, "reorder": 0.02, "delay": 0.002}])  # fmt: skip
@pytest.mark.parametrize(("simulink", "ping"), [(0.0005, 0.00001), (0.001, 0.004), (0.005, 0.01)])
def test_a_bad_network_does_not_stop_the_exchange(session, faults, simulink, ping):
    session.serve(simulink_time=simulink, ping_time=ping, block_timeout=0.05, **faults)
    link = session.connect(simulink_time=simulink, ping_time=ping)
    ids = []
    for _ in range(1250):
        session.tick()
        if link.has_new_sample():
            ids.append(link.read(session.now).sequence)
            link.write(Controls(throttle=0.1))
    assert ids == sorted(set(ids)), "ids only grow"
    assert ids[-1] > 50
    said = session.host.read_counters()
    assert said["vehicles"][0]["most_in_flight"] <= said["coupling"]["unanswered"]
    # It was at work to the end: nothing had jammed.
    before = len(ids)
    for _ in range(500):
        session.tick()
        if link.has_new_sample():
            ids.append(link.read(session.now).sequence)
            link.write(Controls(throttle=0.1))
    assert len(ids) - before > 10


def test_a_world_of_another_period_is_refused(session):
    plant = session.serve() and session.plant
    plant.period = 0.001
    with pytest.raises(SimulatorError, match="period is not the physics step"):
        Host(plant).open(0.0)


def test_a_taken_port_is_one_line(session, tmp_path):
    session.serve()
    other = UdpSocket()
    with pytest.raises(SimulatorError, match=f"--receive-port {other.port}.*another program"):
        Host(session.plant, ServeOptions(receive_port=other.port)).open(0.0)
    other.close()
