"""Both windows against controllers of every habit, in virtual time: section 6 of the protocol page is the judge."""

import itertools
import math
from collections import deque

import pytest
from helpers import beamng_game
from helpers.beamng.virtual_time import Peer, counter, couple, echo, memory, not_a_number, restarting
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.sims.beamng.timing import PHYSICS_STEP, compute_timing
from trailbrake.sims.beamng.window import GameWindow, StrictWindow, WindowAction

NEVER = (-1.0, math.inf)


def game(simulink=0.0005, ping=0.00001):
    return GameWindow(compute_timing(simulink, ping))


def strict(simulink=0.0005, ping=0.00001):
    return StrictWindow(compute_timing(simulink, ping))


# ---- The table of section 6, by the game's own algorithm ------------------------------------------------


@pytest.mark.parametrize("make", [game, strict])
@pytest.mark.parametrize(("simulink", "skips"), [(0.0005, 0), (0.001, 1), (0.005, 9), (0.0012, 2)])
def test_the_first_message_leaves_in_physics_step_number_send_skips(make, simulink, skips):
    log = couple(make(simulink), Peer(counter(), compute=0.0001), 0.1)
    assert log.sends[0][1] == skips


@pytest.mark.parametrize(("simulink", "steps"), [(0.0005, 2), (0.005, 11)])
def test_game_a_silent_peer_gets_a_message_every_two_seconds(simulink, steps):
    log = couple(game(simulink), Peer(counter(), away=NEVER), 21.0)
    times, at = zip(*log.sends, strict=True)
    # The window stays full until the time-out, and the step of the time-out sends nothing.
    assert [b - a for a, b in itertools.pairwise(at)] == [steps] * (len(at) - 1)
    assert all(b - a == pytest.approx(2.0, abs=0.01) for a, b in itertools.pairwise(times))
    assert len(at) == 11


def test_game_an_answer_that_counts_is_lockstep_from_the_first_message():
    log = couple(game(), Peer(counter(), compute=0.0002), 1.0)
    assert not log.timeouts
    assert max(log.ahead) == 1
    assert log.accepted[0][2] == 0


@pytest.mark.parametrize(("habit", "lost"), [(echo, 1), (memory(), 2)])
def test_game_ids_that_are_behind_lose_the_first_controls_only(habit, lost):
    window = game()
    log = couple(window, Peer(habit, compute=0.0002), 1.0)
    assert not log.timeouts
    assert window.rejected == lost
    assert log.accepted[0][2] == lost
    assert max(log.ahead) == 1


def test_game_an_echo_stalls_once_at_the_start_where_steps_are_skipped():
    log = couple(game(0.001), Peer(echo, compute=0.0002), 4.0)
    assert len(log.timeouts) == 1
    assert log.timeouts[0][0] == pytest.approx(2.0, abs=0.01)
    assert len(log.sends) > 1900


@pytest.mark.parametrize(("first", "stalls"), [(0.0002, 2), (0.0009, 1)])
def test_game_an_id_behind_stalls_once_or_twice(first, stalls):
    """Twice where both answers with id 0 fall into skipped steps, once where the first is waited for."""
    log = couple(game(0.001), Peer(memory(), first=first, compute=0.0002), 6.0)
    assert len(log.timeouts) == stalls
    assert len(log.sends) > 1900


def test_game_an_id_that_is_no_number_is_accepted_and_jams_the_window():
    log = couple(game(0.005), Peer(not_a_number, compute=0.0002), 21.0)
    gaps = [b[0] - a[0] for a, b in zip(log.sends, log.sends[1:], strict=False)]
    assert log.accepted
    assert all(gap == pytest.approx(2.0, abs=0.03) for gap in gaps), gaps
    assert len(couple(game(), Peer(not_a_number, compute=0.0002), 1.0).sends) > 1900, "lockstep without skipped steps"


def test_game_runs_a_thousand_ahead_after_a_long_pause():
    """4.5 s of nothing at about message 1000, the controller counting on, and a simulator as fast as it may."""
    peer = Peer(counter(), compute=0.0001, away=(0.1, 4.6))
    log = couple(game(), peer, 4.8, physics=0.00001, real=False)
    before = sum(t < 0.1 for t, _ in log.sends)
    assert before == pytest.approx(1000, abs=100)
    assert len(log.timeouts) == 2
    assert max(log.ahead) == pytest.approx(before, abs=10), "as many as ids had gone up to"


def test_game_a_draining_client_that_counts_anew_stays_in_lockstep():
    log = couple(game(), Peer(restarting(), compute=0.0006, away=(0.5, 5.0), drains=True), 6.0)
    assert len(log.timeouts) == 2
    assert max(log.ahead) == 1
    assert log.read == 0, "no answer was there before it was waited for"


def test_game_a_late_client_that_echoes_leaves_the_window_too_wide():
    log = couple(game(), Peer(echo, compute=0.0001, born=6.1), 8.3, physics=0.00001, real=False)
    assert len(log.timeouts) == 4
    tail = [n for (t, _), n in zip(log.sends, log.ahead, strict=True) if t > 8.2]
    assert max(tail) >= 3


@pytest.mark.parametrize(("period", "skips"), [(0.00050000002374873, 1), (0.0007, 1), (0.0012, 2), (0.005, 9)])
def test_a_period_is_whole_steps_rounded_up_a_float_of_32_bits_too(period, skips):
    assert compute_timing(period, 0.00001).send_skips == beamng_game.GameWindow(period).send_skips == skips


# ---- The same cases by the strict window ----------------------------------------------------------------


@pytest.mark.parametrize("simulink", [0.0005, 0.001, 0.005])
def test_strict_a_silent_peer_gets_a_message_every_two_seconds_and_physics_stands(simulink):
    window = strict(simulink)
    log = couple(window, Peer(counter(), away=NEVER), 21.0)
    assert len(log.sends) == 11
    assert log.total <= 2 * (window._send_skips + 1)


@pytest.mark.parametrize("simulink", [0.0005, 0.001, 0.005])
@pytest.mark.parametrize("ping", [0.00001, 0.002, 0.01])
@pytest.mark.parametrize("make", [counter, lambda: counter(0), lambda: echo, memory])
def test_strict_every_habit_has_the_whole_window_and_no_stall(simulink, ping, make):
    timing = compute_timing(simulink, ping)
    # A round trip that fills the window exactly: one that is lost of it would show in the speed.
    log = couple(StrictWindow(timing), Peer(make(), delay=timing.unanswered * timing.message_period), 2.0, skip=0.5)
    assert not log.timeouts
    assert max(log.ahead) == timing.unanswered
    assert log.speed == pytest.approx(1.0, abs=0.01)
    assert log.accepted[0][2] == 0, "no control is lost"


@pytest.mark.parametrize("simulink", [0.0005, 0.005])
@pytest.mark.parametrize("ping", [0.00001, 0.01])
@pytest.mark.parametrize("make", [counter, lambda: echo, memory, lambda: not_a_number])
@pytest.mark.parametrize(("away", "born"), [((0.05, 0.50), 0.0), ((0.0, 0.0), 0.81), ((0.05, 0.27), 0.0)])
@pytest.mark.parametrize("drains", [False, True])
def test_strict_never_runs_ahead(simulink, ping, make, away, born, drains):
    """A long pause, a late client, a short pause; clients that answer all they find and such as answer the newest."""
    timing = compute_timing(simulink, ping)
    peer = Peer(make(), compute=0.0001, away=away, born=born, drains=drains)
    log = couple(StrictWindow(timing), peer, 1.5, timeout=0.2)
    assert max(log.ahead) <= timing.unanswered
    if make() is not not_a_number:
        assert log.sends[-1][0] > 1.4, "no deadlock"
        assert len(log.timeouts) <= 6


def test_strict_an_id_that_is_no_number_answers_nothing():
    window = strict()
    log = couple(window, Peer(not_a_number, compute=0.0001), 21.0)
    assert not log.accepted
    assert len(log.sends) == 11
    assert window.rejected


@pytest.mark.parametrize("ping", [0.00001, 0.002])
def test_strict_a_pause_ends_in_lockstep_with_a_client_that_counts_anew(ping):
    timing = compute_timing(0.0005, ping)
    peer = Peer(restarting(timing.unanswered), compute=0.0001, away=(0.05, 0.55), drains=True)
    log = couple(StrictWindow(timing), peer, 1.2, timeout=0.2)
    assert len(log.timeouts) == 2
    assert max(log.ahead) <= timing.unanswered
    assert sum(t > 0.6 for t, _ in log.sends) > 1100


def test_strict_answers_take_effect_at_the_same_step_however_fast_they_come():
    """Lockstep repeats: the wall time of the answers does not show in the steps at which they are taken."""
    taken = []
    for compute, physics in ((0.00001, 0.0), (0.0004, 0.0002), (0.004, 0.00001)):
        log = couple(strict(0.005, 0.01), Peer(counter(), compute=compute), 0.3, physics=physics, real=False)
        taken.append([(step, i) for _, step, i in log.accepted][:100])
    shortest = min(map(len, taken))
    assert shortest > 10
    assert taken[0][:shortest] == taken[1][:shortest] == taken[2][:shortest]
    # The answer to message 0 is taken where message 2 is sent, two periods of ten steps later.
    assert taken[0][0] == (29, 0)


@pytest.mark.parametrize("reply", [2.0, 3.0])
def test_strict_a_first_answer_to_more_than_one_message_leaves_the_window_whole(reply):
    """A client that counts the messages it has, and had two or three at hand when it came."""
    window = strict(0.0005, 0.002)
    assert [window.step() for _ in range(4)] == [WindowAction.SEND] * 4
    assert window.step() is WindowAction.WAIT
    window.handle_reply(reply)
    assert window.in_flight == 5 - reply, "one more has been sent"


def test_strict_does_not_take_a_copy_for_an_answer():
    window = strict()
    assert window.step() is WindowAction.SEND
    assert window.step() is WindowAction.WAIT
    assert window.handle_reply(0.0) == (True, WindowAction.SEND)
    assert window.step() is WindowAction.WAIT
    assert window.handle_reply(0.0, is_duplicate=True) == (False, WindowAction.WAIT), (
        "the network's copy of the echo of message 0"
    )
    assert window.handle_reply(1.0) == (True, WindowAction.SEND)
    assert window.handle_reply(1.0) == (False, WindowAction.WAIT)


def test_strict_a_copy_of_the_first_answer_counts_if_nothing_else_comes():
    """A Memory block begins with id 0, and its controller often sends the same command twice at the start."""
    window = strict()
    assert window.step() is WindowAction.SEND
    assert window.step() is WindowAction.WAIT
    assert window.handle_reply(0.0) == (True, WindowAction.SEND)
    assert window.step() is WindowAction.WAIT
    assert window.handle_reply(0.0, is_duplicate=True) == (False, WindowAction.WAIT)
    assert window.has_unclear_copy
    assert window.handle_no_reply() is WindowAction.SEND
    assert (window.timeouts, window.in_flight, window.has_unclear_copy) == (0, 1, False)
    for reply in (1.0, 2.0, 3.0):
        assert window.step() is WindowAction.WAIT
        assert window.handle_reply(reply) == (True, WindowAction.SEND)
        assert window.in_flight == 1


# ---- Worked cases ---------------------------------------------------------------------------------------

EARLY = -0.0012  # s by which the first answer is sooner: it is then read, and rejected, while the window is open
CASES = [  # simulinkTime, pingTime, habit, the first answer, sim/real in theory of the game's window, of the strict one
    (0.0005, 0.002, counter, 0.0, 1.0, 1.0),
    (0.0005, 0.002, lambda: echo, EARLY, 0.75, 1.0),
    (0.0005, 0.002, lambda: echo, 0.0, 1.0, 1.0),
    (0.0005, 0.00001, counter, 0.0, 0.25, 0.25),
    (0.001, 0.002, counter, 0.0, 1.0, 1.0),
    (0.001, 0.002, lambda: echo, EARLY, 0.5, 1.0),
]


@pytest.mark.parametrize(("simulink", "ping", "habit", "first", "by_game", "by_strict"), CASES)
def test_worked_case_1_a_fast_controller_behind_a_slow_network(simulink, ping, habit, first, by_game, by_strict):
    for make, expected in ((game, by_game), (strict, by_strict)):
        log = couple(make(simulink, ping), Peer(habit(), delay=0.002, first=first), 3.0, skip=1.0)
        assert not log.timeouts
        assert log.speed == pytest.approx(expected, rel=0.02), make.__name__


@pytest.mark.parametrize(("simulink", "compute", "speed", "waits"), [
    (0.001, 0.0009, 1.0, False),
    (0.001, 0.00101, 0.99, True),  # a hair too slow: every receive waits
    (0.0005, 0.001, 0.5, True),  # the simulink time is wrong: half the speed
    (0.005, 0.001, 1.0, False),  # no receive ever waits
])  # fmt: skip
@pytest.mark.parametrize("make", [game, strict])
def test_worked_case_2_a_slow_controller_behind_a_fast_network(make, simulink, compute, speed, waits):
    log = couple(make(simulink), Peer(counter(), compute=compute), 2.0)
    assert log.speed == pytest.approx(speed, rel=0.02)
    assert (log.blocking > 0) is waits


def test_worked_case_2_is_the_timeline_of_the_page():
    """Step 1 S0, step 2 skip, step 3 r0 S1, step 4 skip."""
    log = couple(strict(0.001), Peer(counter(), compute=0.0009), 0.01)
    assert [step for _, step in log.sends[:3]] == [1, 3, 5]
    assert [(step, i) for _, step, i in log.accepted[:2]] == [(3, 0), (5, 1)]


def test_worked_case_1_consumes_answer_k_in_step_k_plus_4():
    log = couple(strict(0.0005, 0.002), Peer(counter(), delay=0.0019), 0.1)
    assert all(step == i + 4 for _, step, i in log.accepted)


# ---- Whatever comes -------------------------------------------------------------------------------------


IDS = st.one_of(st.integers(-2, 6).map(float), st.just(math.nan), st.floats(allow_nan=True, allow_infinity=True))


@settings(max_examples=200)
@given(
    skips=st.integers(0, 3), unanswered=st.integers(0, 4),
    arrivals=st.lists(st.lists(IDS, max_size=2), min_size=1, max_size=60),
)  # fmt: skip
def test_the_game_s_window_and_that_of_the_stub_are_one_algorithm(skips, unanswered, arrivals):
    """Whatever comes, the same messages leave in the same steps: the stub is written from the page as well."""
    stub, window = beamng_game.GameWindow(), game()
    stub.send_skips, stub.unanswered = window._send_skips, window._unanswered = skips, unanswered
    ours, theirs = deque(), deque()
    for arrived in arrivals:
        ours.extend(arrived)
        theirs.extend(arrived)
        expected = stub.step(theirs.popleft() if theirs else None)
        act = window.step()
        while act in (WindowAction.READ, WindowAction.WAIT):
            act = window.handle_reply(ours.popleft())[1] if ours else window.handle_no_reply()
        assert (window.last_id if act is WindowAction.SEND else None) == expected.send_id
        assert list(map(repr, ours)) == list(map(repr, theirs))


@settings(max_examples=200)
@given(
    skips=st.integers(0, 3), unanswered=st.integers(1, 4),
    arrivals=st.lists(st.lists(IDS, max_size=3), min_size=1, max_size=80),
)  # fmt: skip
def test_the_strict_window_keeps_its_bound_whatever_comes(skips, unanswered, arrivals):
    window = strict()
    window._send_skips, window._unanswered = skips, unanswered
    ids = []
    for arrived in arrivals:
        inbox = deque(arrived)
        act = window.step()
        while act is not WindowAction.DONE:
            assert act is not WindowAction.READ
            if act in (WindowAction.SEND, WindowAction.SEND_AND_WAIT):
                ids.append(window.last_id)
                if act is WindowAction.SEND:
                    break
            if not inbox and window.timeouts > 100:
                return
            act = window.handle_reply(inbox.popleft())[1] if inbox else window.handle_no_reply()
            if act is WindowAction.SEND_AND_WAIT and not inbox:
                inbox.append(ids[-1] + 1e6)  # an answer at last
            assert 0 <= window.in_flight <= unanswered
    assert ids == list(range(len(ids))), "ids count in ones"
    assert PHYSICS_STEP == 0.0005
