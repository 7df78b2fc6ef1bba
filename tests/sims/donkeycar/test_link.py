"""What the link of donkeycar reads and sends."""

import json
import socket

import numpy as np
import pytest
from helpers.event_pairs import Ends

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.donkeycar import spec
from trailbrake.sims.donkeycar.link import Link
from trailbrake.state import Controls, Phase, Pose, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.json_objects import listen_for_objects


def test_the_client_sees_the_car(ends):
    state = ends.drive(60, Controls(steer=0.1, throttle=0.5))[-1]
    truth = ends.plant.car_state(0)
    names = ("x", "y", "z", "yaw", "speed", "velocity_x", "velocity_y", "yaw_rate", "throttle", "time")
    for name in names:
        assert getattr(state, name) == pytest.approx(getattr(truth, name), abs=1e-6), name
    _, offset, _ = ends.plant.track.road.locate(truth.x, truth.y)
    assert state.driving_line == pytest.approx(offset / 4.0)
    assert state.steer == pytest.approx(0.1, rel=0.05)
    assert state.image.pixels.shape == (120, 160, 3)
    assert np.abs(state.image.pixels.astype(int) - truth.image.pixels).mean() < 4.0  # what JPEG costs
    assert (state.lap, state.contacts, state.phase) == (1, 0, Phase.DRIVING)


def test_a_session_with_a_simulator_by_hand(tmp_path):
    """A newer one, that is in its scene already; its starting line is one of two, and it hits something."""
    listener = listen_for_objects()
    rendezvous.publish_port(tmp_path, "donkeycar", listener.address[1])
    link = Link(spec.LiveOptions(), doors=tmp_path)
    link.open(0.0)
    simulator, now = None, 0.0

    def look(done):
        nonlocal simulator, now
        for _ in range(20000):
            now += 0.0001
            link.read(now)
            simulator = simulator or listener.accept()
            if done():
                return
        raise AssertionError("it never came")

    heard = []

    def hear(count):
        heard.extend(json.loads(line) for line in simulator.poll_objects())
        return len(heard) >= count

    def show(time, hit="none"):
        before = link.counters.received
        simulator.send_object(
            f'{{"msg_type":"telemetry","steering_angle":0.5,"throttle":0.1,"speed":2.5,"image":"","hit":"{hit}",'
            f'"pos_x":1,"pos_y":2,"pos_z":3,"time":{time}}}'
        )
        look(lambda: link.counters.received > before)
        return link.read(now)

    look(lambda: simulator is not None)
    simulator.send_object('{"msg_type":"ping"}')
    simulator.send_object('{"msg_type":"need_car_config"}')
    look(lambda: hear(1))
    assert heard[0]["msg_type"] == "car_config"
    assert all(isinstance(value, str) for value in heard[0].values())
    for stamp, line in ((5.0, 1), (20.0, 0), (35.5, 1), (50.0, 0), (64.0, 1)):
        simulator.send_object(
            f'{{"msg_type":"collision_with_starting_line","timeStamp":{stamp},"starting_line_index":{line}}}'
        )
    state = show(65.25, "cone")
    assert (state.lap, state.lap_time, state.best_lap_time) == (3, 1.25, 28.5)
    assert (state.x, state.y, state.z, state.steer, state.contacts) == (3.0, -1.0, 2.0, -0.5, 1)
    assert show(65.3, "cone").contacts == 1  # still the same one
    show(65.35)
    assert show(65.4, "cone").contacts == 2
    simulator.send_object("nonsense")
    look(lambda: link.unreadable == 1)
    assert (show(0.5).lap, link.counters.resyncs) == (1, 1)  # begun again
    link.write(Controls(steer=-0.25, throttle=0.5))
    look(lambda: hear(2))
    assert heard[1] == {"msg_type": "control", "steering": "0.25", "throttle": "0.5", "brake": "0.0"}
    simulator.close()
    look(lambda: link.read(now).phase is Phase.LOST)
    link.close()
    listener.close()


def test_a_wall_is_a_contact(ends):
    x, y, z, yaw = ends.plant.track.road.points(20.0, 4.0)[0]
    ends.plant.execute_command(0, SimCommand(teleport=Pose(x, y, z, yaw + 0.8)))
    state = ends.drive(100, Controls(throttle=1.0))[-1]
    assert state.contacts >= 1


def test_a_restart_and_a_release(ends):
    ends.drive(60, Controls(throttle=1.0))
    ends.link.send_command(SimCommand(restart=True))
    states = ends.drive(4, Controls())
    assert states[-1].speed < 0.5
    ends.link.release()
    ends.tick()
    assert ends.plant.car_state(0).brake > 0.0


def test_nobody_answers():
    clock = iter(range(1000))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{probe.getsockname()[1]}"
        link = Link(spec.LiveOptions(connect=where, wait=5.0), idle=lambda: float(next(clock)))
        with pytest.raises(SimulatorError, match="no simulator, expected telemetry within 5 s, got no answer"):
            link.open(0.0)


def test_a_simulator_that_is_taken_hangs_up_and_is_an_error(tmp_path):
    listener, now = listen_for_objects(), 0.0
    rendezvous.publish_port(tmp_path, "donkeycar", listener.address[1])

    def idle():
        nonlocal now
        now += 0.05
        if (call := listener.accept()) is not None:
            call.close()
        return now

    with pytest.raises(SimulatorError, match=r"hangs up on each call.*does another client drive there") as raised:
        Link(spec.LiveOptions(wait=1e6), doors=tmp_path, idle=idle).open(0.0)
    listener.close()
    assert "127.0.0.1" in str(raised.value)


def test_a_scene_that_is_not_there_is_named_with_those_that_are(tmp_path):
    made = Ends("donkeycar", tmp_path, live=spec.LiveOptions(scene="moon"))
    with pytest.raises(SimulatorError, match="no scene moon; it has: lakeside, generated_road, warehouse, "):
        made.link.open(0.0)
    made.close()


def test_the_road_has_a_width():
    with pytest.raises(UsageError, match="--half-width: no width of a road, expected > 0 m, got nan"):
        Link(spec.LiveOptions(half_width=float("nan")))
