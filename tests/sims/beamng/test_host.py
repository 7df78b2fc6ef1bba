"""The simulator's end, with our link and with bytes of its own making."""

import math
from struct import pack, unpack

import pytest

from trailbrake.errors import DataError, SimulatorError, UsageError
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.spec import ServeOptions
from trailbrake.state import Controls, WheelTorque
from trailbrake.transport.rendezvous import lookup, publish
from trailbrake.transport.udp import Udp

NAN = math.nan


class Stranger:
    """A controller of plain `struct`, which knows nothing of our codec."""

    def __init__(self, session, vehicle=0):
        self.session, self.udp = session, Udp()
        publish(session.folder, spec.controller_door(vehicle), self.udp.port)
        self.to = ("127.0.0.1", lookup(session.folder, spec.simulator_door(vehicle)))

    def send(self, message_id, *slots, raw=b""):
        values = [message_id, *slots]
        self.udp.send(raw or pack("<64d", *values, *[0.0] * (64 - len(values))), self.to)

    def message(self):
        """Tick until a message comes; return its 111 doubles."""
        for _ in range(20_000):
            got = self.udp.receive()
            if got is not None:
                assert len(got[0]) == 888
                return unpack("<111d", got[0])
            self.session.tick()
        raise AssertionError("no message")

    def close(self):
        (self.session.folder / f"{spec.controller_door(0)}.port").unlink(missing_ok=True)
        self.udp.close()


@pytest.fixture
def stranger(session):
    session.serve(simulink_time=0.0005)
    made = Stranger(session)
    yield made
    made.close()


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
    assert link.counters.resyncs == session.host.counters()["timeouts"] == 0


def test_the_physics_stands_still_until_the_answer_is_there(session, stranger):
    first = stranger.message()
    session.tick(200)
    assert session.plant.steps == 2, "one step is done, and waits to be told"
    assert session.host.waits
    stranger.send(first[0] + 1.0, 0.5)
    session.tick()
    assert not session.host.waits
    assert stranger.message()[0] == 1.0


def test_an_answer_acts_from_the_step_behind_the_one_that_takes_it(session, stranger):
    stranger.message()
    stranger.send(1.0, 0.75, 0.25, -0.5)
    stranger.message()  # step 2 took it
    session.tick()  # step 3 has it
    c = session.plant.asked[2][0]
    assert (c.throttle, c.brake, c.steer) == (0.75, 0.25, 0.5), "the wire's steering is positive to the right"
    assert session.plant.asked[1][0].throttle == 0.0


def test_torques_are_held_and_nan_leaves_alone(session, stranger):
    stranger.message()
    torques = [-100.0, -101.0, -102.0, -103.0, 200.0, 201.0, 202.0, 203.0]
    stranger.send(1.0, 0.0, 0.0, 0.0, NAN, *torques, 1.0)
    stranger.message()
    stranger.send(2.0, NAN, NAN, NAN, NAN, NAN, -7.0, NAN, NAN, NAN, NAN, NAN, 9.0, NAN)
    stranger.message()
    session.tick()
    wheels = session.plant.asked[-1][0].wheels
    assert [w.brake_torque for w in wheels] == [100.0, 7.0, 102.0, 103.0]
    assert [w.drive_torque for w in wheels] == [200.0, 201.0, 202.0, 9.0]
    stranger.send(3.0, 0.0, 0.0, 0.0, NAN, *[NAN] * 8, 0.0)
    stranger.message()
    session.tick()
    assert session.plant.asked[-1][0].wheels is None, "back to pedals"


def test_a_brake_torque_of_the_wrong_sign_is_nothing_and_is_counted(session, stranger):
    stranger.message()
    stranger.send(1.0, 0.0, 0.0, 0.0, NAN, 500.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    stranger.message()
    session.tick()
    assert session.plant.asked[-1][0].wheels[0] == WheelTorque(0.0, 0.0)
    assert session.host.counters()["vehicles"][0]["wrong_signs"] == 1


def test_datagrams_of_another_size_are_dropped_and_counted(session, stranger):
    stranger.message()
    for size in (0, 7, 511, 513, 888, 2000):
        stranger.send(0, raw=bytes(size) or b"x")
    session.tick(5)
    assert session.host.waits
    assert session.host.counters()["vehicles"][0]["wrong_size"] == 6
    stranger.send(1.0)
    assert stranger.message()[0] == 1.0


def test_old_ids_change_nothing(session, stranger):
    for k in range(3):
        stranger.message()
        stranger.send(k + 1.0, 0.1 * k)
    stranger.message()
    stranger.send(2.0, 0.9)
    session.tick(3)
    assert session.host.waits
    assert session.host.counters()["rejected"] == 1
    stranger.send(4.0, 0.3)
    stranger.message()
    session.tick()
    assert session.plant.asked[-1][0].throttle == 0.3


@pytest.mark.parametrize("window", ["strict", "beamng"])
def test_a_silent_controller_is_asked_again_after_the_time_out(session, window):
    session.serve(simulink_time=0.0005, block_timeout=0.1, window=window)
    stranger = Stranger(session)
    ids = [stranger.message()[0] for _ in range(4)]
    assert ids == [0.0, 1.0, 2.0, 3.0]
    assert session.now == pytest.approx(0.3, abs=0.01)
    assert session.host.counters()["timeouts"] == 3
    assert session.plant.steps <= (2 if window == "strict" else 8)
    stranger.close()


def test_without_a_time_out_it_waits_for_ever(session):
    session.serve(simulink_time=0.0005, block_timeout=0.0)
    stranger = Stranger(session)
    stranger.message()
    session.tick(10_000)
    assert session.host.counters()["messages_out"] == 1
    stranger.close()


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
    assert [c.throttle for c in session.plant.asked[2]] == [0.5, 0.25]


def test_slow_banks_change_once_per_graphics_frame(session):
    session.serve(simulink_time=0.0005, gfx_banks="slow", frame_rate=500.0)
    stranger = Stranger(session)
    seen = []
    for k in range(12):
        seen.append(stranger.message())
        stranger.send(k + 1.0, 0.05 * (k + 1))
    inputs = [m[2] for m in seen]  # throttle_input: in bank A, follows what was sent
    assert len(set(inputs[4:8])) <= 2
    assert len(set(inputs)) <= 4
    assert len({m[14] for m in seen[2:]}) == 10, "the speed is new each time"
    stranger.close()


def test_latched_inputs_wait_for_the_frame_and_torques_do_not(session):
    session.serve(simulink_time=0.0005, input_latch="frame", frame_rate=100.0)
    stranger = Stranger(session)
    for k in range(30):
        stranger.message()
        stranger.send(k + 1.0, 0.5, 0.0, 0.0, NAN, *[-1.0] * 4, *[2.0] * 4, 1.0)
    throttles = [asked[0].throttle for asked in session.plant.asked]
    torqued = [asked[0].wheels is not None for asked in session.plant.asked]
    assert torqued.index(True) == 2
    assert throttles.index(0.5) == 20, "a frame is 20 steps"
    stranger.close()


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


def test_the_debug_logs_have_the_message_in_columns(session, tmp_path):
    session.serve(simulink_time=0.001, debug_file=tmp_path / "log")
    link = session.connect(simulink_time=0.001)
    session.exchange(link, Controls(throttle=0.5), times=4)
    session.host.close()
    sent, received, steps = (
        (tmp_path / f"log_{kind}.csv").read_text().splitlines() for kind in ("send", "receive", "physics")
    )
    assert sent[0] == "time," + ",".join(map(str, range(1, 112)))
    assert received[0] == "time," + ",".join(map(str, range(1, 65)))
    assert steps[0] == "time"
    assert [line.split(",")[:2] for line in sent[1:3]] == [["0.001", "0.0"], ["0.002", "1.0"]]
    assert received[1].split(",")[1:3] == ["1.0", "0.5"]
    assert len(steps) - 1 == session.plant.steps


def test_figures(session):
    session.serve(simulink_time=0.0005, ping_time=0.002)
    link = session.connect(simulink_time=0.0005, ping_time=0.002)
    session.exchange(link, times=50)
    session.tick(100)  # runs into the end of the window, and waits
    session.exchange(link)
    session.tick(3)
    said = session.host.counters()
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
def test_a_bad_network_stops_nobody(session, faults, simulink, ping):
    session.serve(simulink_time=simulink, ping_time=ping, block_timeout=0.05, **faults)
    link = session.connect(simulink_time=simulink, ping_time=ping)
    ids = []
    for _ in range(2500):
        session.tick()
        if link.fresh():
            ids.append(link.read(session.now).sequence)
            link.write(Controls(throttle=0.1))
    assert ids == sorted(set(ids)), "ids only grow"
    assert ids[-1] > 50
    said = session.host.counters()
    assert said["vehicles"][0]["most_in_flight"] <= said["coupling"]["unanswered"]
    # It was at work to the end: nothing had jammed.
    before = len(ids)
    for _ in range(1000):
        session.tick()
        if link.fresh():
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
    other = Udp()
    with pytest.raises(SimulatorError, match=f"--receive-port {other.port}.*another program"):
        Host(session.plant, ServeOptions(receive_port=other.port)).open(0.0)
    other.close()


@pytest.mark.parametrize(("options", "said"), [
    ({"simulink_time": 0.0001}, "--simulink-time"),
    ({"ping_time": -1.0}, "--ping-time"), ({"vehicles": 0}, "--vehicles"),
    ({"burst": 0}, "--burst"), ({"frame_rate": 0.0}, "--frame-rate"), ({"generation": 2}, "--contract"),
    ({"loss": 2.0}, "--loss"), ({"block_timeout": -1.0}, "--block-timeout"),
])  # fmt: skip
def test_options_out_of_range_are_one_line(options, said):
    with pytest.raises(UsageError, match=said):
        ServeOptions(**options)
