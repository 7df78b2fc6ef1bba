"""The stub of BeamNG's game side: its window against the table of what the real script does, its car, its faults."""

import json
import math
import socket
from collections import deque
from types import SimpleNamespace

import pytest
from helpers.beamng_car import COMMAND, STATE, STEP_S, PointMassCar
from helpers.beamng_game import BLOCK_TIMEOUT_S, CoupledGame, FaultPlan, GameWindow, UdpPort, main

NAN = math.nan


def command(answer_id, throttle=NAN, brake=NAN, steering=NAN, torques=(NAN,) * 8, mode=NAN):
    return COMMAND.pack(answer_id, throttle, brake, steering, NAN, *torques, mode, *[0.0] * 50)


def replay(window, answer, steps, in_flight=1):
    """Run `steps` with a peer that answers in no time, but only messages with `in_flight` - 1 newer ones.

    Returns (step, send id, time in s, blocked, accepted, refused, timed out) of each step; only time-outs take time.
    """
    rows, messages, time_s = [], deque(), 0.0
    for step in range(steps):
        came = answer(messages.popleft()) if len(messages) >= in_flight else None
        blocked, outcome = window.blocks, window.step(came)
        time_s += BLOCK_TIMEOUT_S * outcome.timed_out
        if outcome.send_id is not None:
            messages.append(outcome.send_id)
        rows.append(SimpleNamespace(step=step, time_s=time_s, blocked=blocked, **outcome._asdict()))
    return rows


def sends(rows):
    return [row.step for row in rows if row.send_id is not None]


def stalls(rows):
    return [row.step for row in rows if row.timed_out]


def never(_):
    return None


def echo(n):
    return float(n)


def delayed_echo(n):
    return max(n - 1.0, 0.0)


def next_id(n):
    return n + 1.0


@pytest.mark.parametrize(
    ("simulink_time", "ping_time", "send_skips", "unanswered"),
    [
        (0.005, 0.00001, 9, 1),
        (0.0005, 0.002, 0, 4),
        (0.001, 0.002, 1, 2),
        (0.0007, 0.00001, 1, 1),
        (0.0012, 0.00001, 2, 1),
        (0.00050000002374873, 0.00001, 1, 1),  # a float32 written out
    ],
)
def test_two_numbers_follow_from_the_two_times(simulink_time, ping_time, send_skips, unanswered):
    window = GameWindow(simulink_time, ping_time)
    assert (window.send_skips, window.unanswered) == (send_skips, unanswered)


@pytest.mark.parametrize(("period", "steps_per_stall"), [(0.0005, 2), (0.001, 3), (0.005, 11)])
def test_a_silent_peer_gets_one_message_per_time_out(period, steps_per_stall):
    window = GameWindow(period)
    rows = replay(window, never, 10 * steps_per_stall)
    assert sends(rows)[0] == window.send_skips
    assert sends(rows) == [window.send_skips + k * steps_per_stall for k in range(10)]
    assert [row.send_id for row in rows if row.send_id is not None] == list(range(10))  # ids go on over time-outs
    assert rows[-1].time_s == len(stalls(rows)) * BLOCK_TIMEOUT_S == pytest.approx(2.0 * 10, abs=2.0)


@pytest.mark.parametrize("period", [0.0005, 0.001, 0.005])
def test_ids_one_above_the_message_s_are_in_lockstep_from_the_start(period):
    window = GameWindow(period)
    rows = replay(window, next_id, 500)
    assert sends(rows) == list(range(window.send_skips, 500, window.send_skips + 1))
    assert not any(row.refused or row.timed_out for row in rows)
    assert window.sent - window.highest == 1


@pytest.mark.parametrize(("answer", "refused"), [(echo, 1), (delayed_echo, 2)])
def test_echoed_ids_without_skip_steps_lose_the_first_answers_alone(answer, refused):
    rows = replay(GameWindow(0.0005), answer, 100)
    assert sends(rows) == list(range(100))
    assert [row.step for row in rows if row.refused] == list(range(1, 1 + refused))
    assert not stalls(rows)


@pytest.mark.parametrize("period", [0.001, 0.005])
def test_echoed_ids_with_skip_steps_stall_once_at_the_start(period):
    window = GameWindow(period)
    rows = replay(window, echo, 500)
    assert stalls(rows) == [2 * window.send_skips + 1]
    assert [row.step for row in rows if row.refused] == [window.send_skips + 1]
    assert set(map(int.__sub__, sends(rows)[2:], sends(rows)[1:])) == {window.send_skips + 1}


def test_delayed_echoes_with_skip_steps_stall_once_or_twice():
    assert len(stalls(replay(GameWindow(0.005), delayed_echo, 500))) == 2
    # Here the first answer takes so long that the wait gets it; it is refused, and the message goes out all the same.
    window = GameWindow(0.005)
    replay(window, never, 19)
    assert window.blocks
    assert window.step(0.0).send_id == 1
    window.step(0.0)
    assert len(stalls(replay(window, lambda n: n - 1.0, 500))) == 1


def test_an_id_that_is_no_number_is_accepted_and_fills_the_window():
    rows = replay(GameWindow(0.005), lambda n: NAN, 110)
    assert sum(row.accepted for row in rows) == 10
    assert not any(row.refused for row in rows)
    assert sends(rows) == [9 + 11 * k for k in range(10)]
    rows = replay(GameWindow(0.0005), lambda n: NAN, 100)
    assert sends(rows) == list(range(100))
    assert not stalls(rows)


def own_counter(silent=(), restarts_at=None):
    """Answers with its own counter from 1, but for the messages `silent`; it counts from 1 again at one message."""
    replies = 0

    def answer(n):
        nonlocal replies
        if n in silent:
            return None
        replies = 1 if n == restarts_at else replies + 1
        return float(replies)

    return answer


def test_after_a_pause_above_the_time_out_the_game_runs_ahead_of_a_counter():
    window = GameWindow(0.0005)
    rows = replay(window, own_counter(silent=(1000, 1001, 1002)), 1008)
    assert len(stalls(rows)) == 3
    assert (rows[-1].send_id, rows[-1].accepted, window.highest, window.sent) == (1004, True, 1001.0, 2)
    ahead = 0
    while not window.blocks:
        ahead += window.step().send_id is not None
    assert 990 <= ahead <= 1010


def test_after_a_pause_above_the_time_out_a_restarted_counter_is_in_lockstep():
    window = GameWindow(0.005)
    rows = replay(window, own_counter(silent=(1000, 1001), restarts_at=1002), 20000)
    assert len(stalls(rows)) == 2
    assert not any(row.refused for row in rows)
    assert (window.sent, window.highest) == (window.next_id - 1002, window.sent)  # as from the first message on


def test_a_counter_restarted_after_a_lost_answer_is_refused_as_often_as_it_had_been_accepted():
    rows = replay(GameWindow(0.005), own_counter(silent=(1500,), restarts_at=1504), 40000)
    refused = [row.step for row in rows if row.refused]
    assert len(refused) == 1501  # 1504 messages fill the window above the id 1503; three were answered before
    assert refused == list(range(refused[0], refused[0] + 15010, 10))  # meanwhile the physics runs on
    assert len(stalls(rows)) == 2  # for the lost answer, and when the messages have caught up with the ids


def test_one_lost_answer_costs_a_counter_one_time_out_and_no_refusal():
    rows = replay(GameWindow(0.005), own_counter(silent=(1500,)), 20000)
    assert len(stalls(rows)) == 1
    assert not any(row.refused for row in rows)


def test_messages_into_the_void_keep_the_window_of_an_echo_wide():
    window = GameWindow(0.0005)
    late = replay(window, never, 8)  # messages 0 to 3, four time-outs
    assert len(stalls(late)) == 4
    assert window.step().send_id == 4
    window.step(4.0)
    in_flight = 1
    while not window.blocks:
        in_flight += window.step().send_id is not None
    assert in_flight == 4


def test_a_refused_answer_of_a_wait_sends_only_where_nothing_has_been_accepted():
    window = GameWindow(0.0005)
    window.step()
    assert window.step(-3.0) == (1, False, True, False)
    assert window.step(2.0) == (2, True, False, False)
    assert window.blocks
    assert window.step(2.0) == (None, False, True, False)
    assert window.blocks
    assert window.step(2.5).accepted  # greater, whole or not


@pytest.mark.parametrize(("window_times", "in_flight"), [((0.0005, 0.002), 4), ((0.001, 0.002), 2)])
def test_worked_case_1_has_the_whole_window_in_flight(window_times, in_flight):
    rows = replay(GameWindow(*window_times), next_id, 400, in_flight)
    assert not stalls(rows)
    assert not any(row.refused for row in rows)
    narrow = replay(GameWindow(*window_times), next_id, 400, in_flight + 1)
    assert stalls(narrow)


def decode(message):
    values = STATE.unpack(message)
    names = {"id": 0, "throttle": 1, "steering": 9, "steering_input": 10, "x": 11, "y": 12, "vx": 14, "vy": 15}
    names |= {"groundspeed": 17, "acc_x": 18, "acc_y": 19, "acc_z": 20, "yaw": 23, "altitude": 24, "gear": 26}
    names |= {"rpm": 33, "wheelspeed": 36, "left": 38, "right": 44, "fl_braking": 39, "rr_propulsion": 58}
    return SimpleNamespace(**{name: values[slot] for name, slot in names.items()})


def test_the_car_moves_as_its_messages_say():
    car = PointMassCar()
    at_rest = decode(car.encode_state(7))
    assert (at_rest.id, at_rest.yaw, at_rest.acc_z, at_rest.groundspeed) == (7.0, math.pi / 2, -9.81, 0.0)
    car.apply_command(COMMAND.unpack(command(1, throttle=0.8, brake=0.0, steering=0.1)))
    before, last = None, None
    for step in range(20000):
        if step % 33 == 0:
            car.latch_frame()
        car.step()
        if step == 10:
            first = decode(car.encode_state(0))
            assert first.acc_y < -2.0
            assert first.rr_propulsion > 0.0
        if step >= 19990:
            before, last = last, decode(car.encode_state(step))
    assert last.throttle == 0.8
    assert (last.x - before.x) / STEP_S == pytest.approx(last.vx, abs=0.02)
    assert (last.y - before.y) / STEP_S == pytest.approx(last.vy, abs=0.02)
    assert math.hypot(last.vx, last.vy) == pytest.approx(last.groundspeed)
    heading = math.sin(last.yaw), -math.cos(last.yaw)
    assert (last.vx, last.vy) == pytest.approx((last.groundspeed * heading[0], last.groundspeed * heading[1]))
    # Steered to the right: clockwise, the wheel's angle negative, acceleration to the right, left wheels faster.
    assert (last.steering_input, last.steering) == pytest.approx((0.1, -45.0))
    assert (last.yaw - before.yaw + math.pi) % (2 * math.pi) - math.pi < 0.0
    assert -9.1 < last.acc_x < -5.0
    assert last.left > last.wheelspeed > last.right


def test_commands_are_held_and_torques_brake_with_a_negative_sign():
    car = PointMassCar()
    car.apply_command(COMMAND.unpack(command(1, throttle=1.0)))
    car.latch_frame()
    for _ in range(4000):
        car.step()
    fast = car.speed
    car.apply_command(COMMAND.unpack(command(2)))  # all NaN
    car.latch_frame()
    car.step()
    assert car.speed > fast
    car.apply_command(COMMAND.unpack(command(3, torques=(-900.0,) * 4 + (0.0,) * 4, mode=1.0)))
    car.step()
    message = decode(car.encode_state(0))
    assert message.fl_braking == 900.0
    assert message.acc_y > 7.0
    for _ in range(4000):
        car.step()
    assert car.speed == 0.0


class FakePort:
    """A controller that answers each message at once with its own counter, and a clock that only waiting advances."""

    def __init__(self, throttle=0.5):
        self.now, self.answers, self.replies, self.reopened, self.ids = 0.0, deque(), 0, 0, []
        self.throttle = throttle

    def clock(self):
        self.now += 1e-6
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def receive(self, timeout_s):
        if not self.answers:
            self.now += timeout_s
            return None
        return self.answers.popleft()

    def send(self, data):
        self.ids.append(int(STATE.unpack(data)[0]))
        self.replies = self.ids[-1] + 1
        self.answers.append(command(self.replies, throttle=self.throttle))

    def reopen(self):
        self.reopened += 1
        self.answers.clear()


def run_game(seconds, faults=None, port=None, **options):
    port = port or FakePort()
    game = CoupledGame(port, options.pop("window_times", (0.005, 0.00001)), faults, clock=port.clock, sleep=port.sleep)
    game.run(seconds)
    return game, port, SimpleNamespace(**game.statistics.summarize())


def test_without_faults_every_message_is_answered_in_real_time():
    game, port, found = run_game(3.0)
    assert port.ids == list(range(found.messages_sent))
    assert found.messages_sent - found.messages_answered <= 1
    assert found.answers_accepted == found.messages_answered
    assert found.simulator_per_wall == pytest.approx(1.0, abs=0.02)
    assert found.longest_between_accepted_s < 0.02  # a frame
    assert (found.time_outs, found.answers_refused, found.answers_out_of_range) == (0, 0, 0)
    assert game.car.speed > 4.0


def test_losses_are_counted_and_repeat_with_their_seed():
    def lose(seed):
        return run_game(8.0, FaultPlan(lose_answers=0.01, lose_messages=0.01, seed=seed))[2]

    found = lose(1)
    assert found == lose(1) != lose(2)
    assert found.messages_lost > 0
    assert found.answers_lost > 0
    assert found.time_outs > 0
    assert found.answers_received == found.answers_lost + found.answers_accepted + found.answers_refused
    assert found.longest_block_s == pytest.approx(BLOCK_TIMEOUT_S, abs=0.01)
    assert found.longest_between_accepted_s >= BLOCK_TIMEOUT_S
    assert found.answered_per_sent < 1.0


def test_an_answer_counts_for_all_messages_of_the_window():
    faults = FaultPlan(lose_answers=0.002, seed=3)
    wide = run_game(5.0, faults, window_times=(0.0005, 0.002))[2]
    assert wide.answers_lost > 3
    assert wide.messages_sent - wide.messages_answered <= 1 + wide.messages_lost
    assert wide.messages_sent - wide.answers_accepted >= wide.answers_lost
    narrow = run_game(5.0, faults, window_times=(0.0005, 0.0005))[2]
    assert narrow.messages_answered == narrow.answers_accepted


@pytest.mark.parametrize("simulator_time", [False, True])
def test_a_freeze_stops_the_physics_without_a_time_out(simulator_time):
    _, _, found = run_game(6.0, FaultPlan(freezes=[(1.0, 3.0)], simulator_time=simulator_time))
    assert (found.freezes, found.time_outs) == (1, 0)
    assert found.simulator_s == pytest.approx(3.05, abs=0.05)
    assert found.longest_between_accepted_s == pytest.approx(3.0, abs=0.05)


def test_a_restart_begins_anew_and_silence_ends_in_time_outs():
    _, port, found = run_game(4.0, FaultPlan(restarts=[2.0]))
    assert (found.restarts, port.reopened, port.ids.count(0)) == (1, 1, 2)
    _, port, found = run_game(9.0, FaultPlan(silences=[(1.0, 3.0)]))
    assert (found.time_outs, found.messages_lost) == (2, 2)
    assert found.wall_s == pytest.approx(9.0, abs=0.05)


def test_datagrams_of_another_size_are_discarded_and_refused_ids_are_kept():
    port = FakePort()
    port.answers.extend([b"", bytes(888), command(0.0), command(-1.0), command(2.0, throttle=-0.05)])
    _, _, found = run_game(0.2, port=port)
    assert found.answers_of_wrong_size == 2
    assert found.refused_ids[:2] == [0.0, -1.0]
    assert found.answers_out_of_range == 1


def test_the_sockets_carry_both_ways_and_open_anew():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))
        peer.settimeout(5.0)
        port = UdpPort(("127.0.0.1", 0), peer.getsockname())
        assert port.receive(0.0) is None
        port.send(b"one")
        message, first = peer.recvfrom(2048)
        peer.sendto(b"two", port.listen)
        assert (message, port.receive(5.0)) == (b"one", b"two")
        port.reopen()
        port.send(b"three")
        message, second = peer.recvfrom(2048)
        assert message == b"three"
        assert first != port.listen != second
        port.close()


def test_the_command_line_prints_the_statistics(capsys):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))
        main(["--peer", f"127.0.0.1:{peer.getsockname()[1]}", "--listen", "127.0.0.1:0", "--seconds", "0", "--json"])
    assert json.loads(capsys.readouterr().out)["messages_sent"] == 0
