import contextlib

import pytest

from trailbrake.train.rl import cuda_graph
from trailbrake.train.rl.cuda_graph import WARM_UPS, RecordedCall

pytest.importorskip("torch")
import torch

pytestmark = pytest.mark.train


def test_on_the_processor_each_call_is_made():
    calls = []
    call = RecordedCall(lambda: calls.append(1) or len(calls), records=False)
    assert [call() for _ in range(5)] == [1, 2, 3, 4, 5]


def test_on_a_card_the_third_call_is_recorded_and_repeated(monkeypatch):
    """A card of which the calls are counted: a recording runs the function, a replay does not."""
    done = []

    class Graph:
        def replay(self):
            done.append("replay")

    class Stream:
        cuda_stream = 0

        def wait_stream(self, other):
            done.append("wait")

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, **options: contextlib.nullcontext())
    monkeypatch.setattr("trailbrake.world.cuda_kernels.launch_on", lambda stream: contextlib.nullcontext())
    call = RecordedCall(lambda: done.append("call"), records=True)
    for _ in range(WARM_UPS + 3):
        call()
    assert done == ["wait", "call", "wait"] * WARM_UPS + ["call"] + ["replay"] * 3
    done.clear()
    monkeypatch.setattr(cuda_graph, "RECORDS", False)
    call = RecordedCall(lambda: done.append("call"), records=True)
    for _ in range(4):
        call()
    assert done == ["call"] * 4
