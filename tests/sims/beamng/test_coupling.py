"""One vehicle's coupling, through a host with one car and a controller of plain bytes."""

import math
from struct import pack

import numpy as np
import pytest
from helpers.beamng.plain_controller import PlainController

from trailbrake.sims.beamng.coupling import CouplingStatistics
from trailbrake.state import Controls, WheelTorque
from trailbrake.transport.udp import UdpSocket

NAN = math.nan


def test_the_physics_stands_still_until_the_answer_is_there(session, controller):
    first = controller.message()
    session.tick(200)
    assert session.plant.steps == 2, "one step is done, and waits for the answer"
    assert session.host.waits
    controller.send(first[0] + 1.0, 0.5)
    session.tick()
    assert not session.host.waits
    assert controller.message()[0] == 1.0


def test_an_answer_acts_from_the_step_behind_the_one_that_takes_it(session, controller):
    controller.message()
    controller.send(1.0, 0.75, 0.25, -0.5)
    controller.message()  # step 2 took it
    session.tick()  # step 3 has it
    c = session.plant.inputs[2][0]
    assert (c.throttle, c.brake, c.steer) == (0.75, 0.25, 0.5), "the wire's steering is positive to the right"
    assert session.plant.inputs[1][0].throttle == 0.0


def test_torques_are_held_and_nan_leaves_alone(session, controller):
    controller.message()
    torques = [-100.0, -101.0, -102.0, -103.0, 200.0, 201.0, 202.0, 203.0]
    controller.send(1.0, 0.0, 0.0, 0.0, NAN, *torques, 1.0)
    controller.message()
    controller.send(2.0, NAN, NAN, NAN, NAN, NAN, -7.0, NAN, NAN, NAN, NAN, NAN, 9.0, NAN)
    controller.message()
    session.tick()
    wheels = session.plant.inputs[-1][0].wheels
    assert [w.brake_torque for w in wheels] == [100.0, 7.0, 102.0, 103.0]
    assert [w.drive_torque for w in wheels] == [200.0, 201.0, 202.0, 9.0]
    controller.send(3.0, 0.0, 0.0, 0.0, NAN, *[NAN] * 8, 0.0)
    controller.message()
    session.tick()
    assert session.plant.inputs[-1][0].wheels is None, "back to pedals"


def test_a_brake_torque_of_the_wrong_sign_is_nothing_and_is_counted(session, controller):
    controller.message()
    controller.send(1.0, 0.0, 0.0, 0.0, NAN, 500.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    controller.message()
    session.tick()
    assert session.plant.inputs[-1][0].wheels[0] == WheelTorque(0.0, 0.0)
    assert session.host.read_counters()["vehicles"][0]["wrong_signs"] == 1


def test_torques_beyond_those_of_any_car_are_limited(session, controller):
    controller.message()
    controller.send(1.0, 0.0, 0.0, 0.0, NAN, -1e300, -math.inf, math.inf, 0.0, 1e300, -1e300, math.inf, NAN, 1.0)
    controller.message()
    session.tick()
    wheels = session.plant.inputs[-1][0].wheels
    assert [w.brake_torque for w in wheels] == [1e5, 0.0, 0.0, 0.0]
    assert [w.drive_torque for w in wheels] == [1e5, -1e5, 0.0, 0.0]


def test_garbage_from_anywhere_costs_no_answer(session, controller):
    """512 random bytes are no command: their first double is no whole number."""
    rng = np.random.default_rng(1)
    stranger = UdpSocket()
    for k in range(30):
        message = controller.message()
        assert message[0] == k
        for _ in range(3):
            stranger.send(rng.bytes(512), controller.host_address)
        controller.send(message[0] + 1.0, 0.5)
    session.tick()
    assert {c[0].throttle for c in session.plant.inputs[1:]} <= {0.0, 0.5}
    assert session.host.read_counters()["timeouts"] == 0
    assert session.host.read_counters()["rejected"] >= 80
    stranger.close()


def test_a_flooded_port_does_not_hold_a_tick(session, monkeypatch):
    session.serve(simulink_time=0.0005, block_timeout=0.02)
    controller = PlainController(session)
    controller.message()
    session.tick()
    udp = session.host._couplings[0].udp
    taken = 0

    def flood():
        nonlocal taken
        taken += 1
        return bytes(3)

    monkeypatch.setattr(udp, "receive_data", flood)
    monkeypatch.setattr(udp, "receive_expected", flood)
    session.tick()
    assert 1 <= taken <= 256
    assert session.host.waits
    for _ in range(50):  # 25 ms: the time-out counts, whatever arrives
        session.tick()
    assert session.host.read_counters()["timeouts"] >= 1
    controller.close()


def test_two_controllers_of_one_car_are_said_once(session, controller, capsys):
    other = UdpSocket()
    for k in range(20):
        message = controller.message()
        controller.send(message[0] + 1.0, 0.1 * (k % 2))
        other.send(pack("<64d", message[0] + 1.0, 0.7, *[0.0] * 62), controller.host_address)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "two clients" in line]
    ports = sorted([controller.udp.port, other.port])
    assert line == (
        f"beamng: vehicle 1: two clients send controls, 127.0.0.1:{ports[0]} and 127.0.0.1:{ports[1]}; the newest "
        "message counts: stop one of them"
    )
    other.close()


def test_datagrams_of_another_size_are_dropped_and_counted(session, controller):
    controller.message()
    for size in (0, 7, 511, 513, 888, 2000):
        controller.send(0, raw=bytes(size) or b"x")
    session.tick(5)
    assert session.host.waits
    assert session.host.read_counters()["vehicles"][0]["wrong_size"] == 6
    controller.send(1.0)
    assert controller.message()[0] == 1.0


def test_old_ids_change_nothing(session, controller):
    for k in range(3):
        controller.message()
        controller.send(k + 1.0, 0.1 * k)
    controller.message()
    controller.send(2.0, 0.9)
    session.tick(3)
    assert session.host.waits
    assert session.host.read_counters()["rejected"] == 1
    controller.send(4.0, 0.3)
    controller.message()
    session.tick()
    assert session.plant.inputs[-1][0].throttle == 0.3


@pytest.mark.parametrize("window", ["strict", "beamng"])
def test_after_the_time_out_a_silent_controller_gets_another_message(session, window):
    session.serve(simulink_time=0.0005, block_timeout=0.1, window=window)
    controller = PlainController(session)
    ids = [controller.message()[0] for _ in range(4)]
    assert ids == [0.0, 1.0, 2.0, 3.0]
    assert session.now == pytest.approx(0.3, abs=0.01)
    assert session.host.read_counters()["timeouts"] == 3
    assert session.plant.steps <= (2 if window == "strict" else 8)
    controller.close()


def test_without_a_time_out_it_waits_for_ever(session):
    session.serve(simulink_time=0.0005, block_timeout=0.0)
    controller = PlainController(session)
    controller.message()
    session.tick(10_000)
    assert session.host.read_counters()["messages_out"] == 1
    controller.close()


def test_a_run():
    s = CouplingStatistics()
    s.steps = 10
    for k in range(4):
        s.count_sent(888, 0.001 * k, in_flight=k + 1)
    s.count_answered(0.004, in_flight=3)  # message 0: 4 ms
    s.count_answered(0.006, in_flight=1)  # messages 1 and 2, of which 2 left at 2 ms: 4 ms
    s.count_blocked(0.5)
    s.count_blocked(1.5)
    said = s.as_report()
    assert (said["messages_out"], said["bytes_out"], said["accepted"]) == (4, 3552, 2)
    assert said["round_trip_p50_us"] == pytest.approx(4000.0, rel=0.02)
    assert said["round_trip_p999_us"] == pytest.approx(4000.0, rel=0.02)
    assert (said["most_in_flight"], said["overruns"]) == (4, 2)
    assert (said["blocked_s"], said["longest_blocked_s"], said["blocked_per_step_us"]) == (2.0, 1.5, 2e5)


def test_what_was_given_up_has_no_round_trip():
    s = CouplingStatistics()
    s.count_sent(888, 0.0, 1)
    s.clear_in_flight()
    s.count_answered(5.0, 0)
    assert s.round_trip.count == 0
    s.count_sent(888, 6.0, 1)
    s.count_answered(6.001, float("nan"))
    assert s.round_trip.longest == pytest.approx(0.001)


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
