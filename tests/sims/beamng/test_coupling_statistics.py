"""What is counted, on a made-up run."""

import pytest

from trailbrake.sims.beamng.coupling_statistics import CouplingStatistics


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
