import pytest

from trailbrake.event_sims.dead_time import LONGEST_S, UNKNOWN_S, UNPROMPTED, DeadTime


def test_dead_time_is_that_of_the_command_whose_effect_is_seen():
    dead_time = DeadTime()
    assert dead_time.seconds == UNKNOWN_S
    dead_time.begin_call(0, 0.0)
    for k in range(UNPROMPTED, 100):  # each telemetry is answered at once, two are always on their way
        dead_time.note_telemetry(0.05 * k)
        dead_time.note_command(0.05 * k)
    assert dead_time.seconds == pytest.approx(0.1)


def test_a_longer_dead_time_counts_at_once_and_a_shorter_one_slowly():
    dead_time = DeadTime()
    dead_time.begin_call(0, 0.0)
    for time in (0.1, 0.2):
        dead_time.note_telemetry(time)
    for sent, seen in ((1.0, 1.1), (2.0, 2.3), (3.0, 3.1)):
        dead_time.note_command(sent)
        dead_time.note_telemetry(seen)
    assert 0.28 < dead_time.seconds < 0.3
    before = dead_time.seconds
    for seen in (4.0 + 2.0 * LONGEST_S, 2.0):  # a simulator that stood still, and one that was restarted
        dead_time.note_command(4.0)
        dead_time.note_telemetry(seen)
    assert dead_time.seconds == before
