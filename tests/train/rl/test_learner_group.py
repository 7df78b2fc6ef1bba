"""Learners in threads average their arrays; one that is gone is an error of the others."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
from trailbrake.train.rl.worker_crew import GroupBrokenError, LearnerGroup

pytestmark = pytest.mark.train
HOST = "127.0.0.1"


def join_all(count):
    groups = [LearnerGroup(rank, count) for rank in range(count)]
    port = groups[0].open_store(HOST)
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(lambda group: group.join((HOST, port), HOST), groups))
    return groups


def test_all_get_the_mean_and_the_same_bits():
    groups = join_all(3)
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(7, 5)) for _ in groups]
    mean = np.mean(arrays, axis=0)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(LearnerGroup.average, groups, arrays))
    assert arrays[0] == pytest.approx(mean, rel=1e-12)
    assert all(np.array_equal(arrays[0], each) for each in arrays[1:])


def test_an_address_that_is_not_ours_is_one_line():
    with pytest.raises(GroupBrokenError) as caught:
        LearnerGroup(0, 1).open_store("192.0.2.77")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="sockets by /proc")
def test_the_store_listens_on_its_address_alone():
    group = LearnerGroup(0, 1)
    port = group.open_store(HOST)
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
    assert listening == [f"0100007F:{port:04X}"]


def test_a_learner_that_is_gone_is_one_line():
    first, other = join_all(2)
    del other
    with pytest.raises(GroupBrokenError) as caught:
        first.average(np.zeros(3))
    assert "\n" not in str(caught.value)
