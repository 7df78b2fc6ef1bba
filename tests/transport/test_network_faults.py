import itertools

import pytest

from trailbrake.errors import UsageError
from trailbrake.transport.network_faults import FaultOptions, FaultyQueue

COUNT, PERIOD = 4000, 1.0 / 60.0


def through(seed=1, **options):
    """Send COUNT numbered datagrams; return [(when, number)] as they arrive, and the queue."""
    faults = FaultyQueue(FaultOptions(**options), seed)
    arrived = []
    for i in range(COUNT):
        faults.push(i.to_bytes(4, "big"), i * PERIOD)
        arrived += [(i * PERIOD, int.from_bytes(data, "big")) for data in faults.pop(i * PERIOD)]
    while (at := faults.next_at) is not None:
        arrived += [(at, int.from_bytes(data, "big")) for data in faults.pop(at)]
    return arrived, faults


def test_a_good_network_changes_nothing():
    arrived, faults = through()
    assert arrived == [(i * PERIOD, i) for i in range(COUNT)]
    assert (faults.lost, faults.duplicated, faults.reordered) == (0, 0, 0)


def test_loss():
    arrived, faults = through(loss=0.1)
    assert COUNT - len(arrived) == faults.lost == pytest.approx(0.1 * COUNT, rel=0.15)
    assert all(a[1] < b[1] for a, b in itertools.pairwise(arrived))


def test_everything_can_be_lost():
    assert through(loss=1.0)[0] == []


def test_duplicates():
    arrived, faults = through(duplicate=0.05)
    assert len(arrived) - COUNT == faults.duplicated == pytest.approx(0.05 * COUNT, rel=0.2)
    assert {number for _, number in arrived} == set(range(COUNT))


def test_reordering_swaps_neighbours():
    arrived, faults = through(reorder=0.1)
    numbers = [number for _, number in arrived]
    assert sorted(numbers) == list(range(COUNT))
    overtaken = sum(a > b for a, b in itertools.pairwise(numbers))
    assert 0.5 * faults.reordered < overtaken <= faults.reordered


def test_delay_and_jitter():
    arrived, _ = through(delay=0.5, jitter=0.002)
    late = [at - number * PERIOD for at, number in arrived]
    # What arrives between two looks is seen at the next: up to a period later.
    assert 0.49 < min(late) <= sum(late) / len(late) < 0.53


@pytest.mark.parametrize("periods", [3, 6])
def test_a_constant_delay_of_whole_periods_brings_one_at_every_look(periods):
    faults = FaultyQueue(FaultOptions(delay=periods * PERIOD))
    came = []
    for i in range(COUNT):
        faults.push(b"", i * PERIOD)
        came.append(len(faults.pop(i * PERIOD)))
    assert came == [0] * periods + [1] * (COUNT - periods)


def test_the_same_seed_gives_the_same_faults():
    bad = {"loss": 0.1, "duplicate": 0.1, "reorder": 0.1, "jitter": 0.01}
    assert through(7, **bad)[0] == through(7, **bad)[0]
    assert through(7, **bad)[0] != through(8, **bad)[0]


@pytest.mark.parametrize(("name", "value"), [("loss", 1.01), ("loss", -0.1), ("jitter", -1.0), ("delay", float("nan"))])
def test_shares_are_shares(name, value):
    with pytest.raises(UsageError, match=f"--{name}: out of range, expected 0 to"):
        FaultOptions(**{name: value})
