from dataclasses import replace

import pytest

pytest.importorskip("torch")
import torch

from trailbrake.errors import UsageError
from trailbrake.kernels import cuda_compiler
from trailbrake.train.rl.device import choose_device, take_device
from trailbrake.train.rl.options import RlOptions, check_options

pytestmark = pytest.mark.train


def test_the_processor_is_asked_nothing(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: pytest.fail("a card was sought"))
    assert choose_device("cpu") == "cpu"


def test_without_a_card_one_line_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    said = []
    assert choose_device("auto", said.append) == "cpu"
    assert len(said) == 1
    assert "no graphics card" in said[0]
    for version, words in ((None, "built for processors"), ("13.0", "finds no card")):
        monkeypatch.setattr(torch.version, "cuda", version)
        with pytest.raises(UsageError, match=words) as caught:
            choose_device("cuda")
        assert "\n" not in str(caught.value)


def test_a_card_that_only_one_of_the_libraries_can_use_is_none(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda_compiler, "require_cuda", lambda: None)
    assert choose_device("cuda") == choose_device("auto") == "cuda"

    def refuse():
        raise UsageError("the driver of the graphics card is too old", where="CUDA")

    monkeypatch.setattr(cuda_compiler, "require_cuda", refuse)
    assert choose_device("auto") == "cpu"
    with pytest.raises(UsageError, match="too old"):
        choose_device("cuda")


def test_what_a_card_cannot_do_is_refused():
    for wrong in ({"device": "gpu"}, {"device": "cuda", "workers": 2, "on": "ray"}):
        with pytest.raises(UsageError, match="--device"):
            check_options(replace(RlOptions(), **wrong))
    check_options(RlOptions(device="cuda"))
    check_options(RlOptions(device="cuda", workers=2))
    check_options(RlOptions(device="auto", workers=2))


def test_workers_take_cards_in_turn(monkeypatch):
    cuda = pytest.importorskip("numba.cuda")
    taken = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(cuda, "select_device", taken.append)
    monkeypatch.setattr(cuda_compiler, "require_cuda", lambda: None)
    assert [take_device(RlOptions(device="cuda", workers=3), rank) for rank in range(3)] == ["cuda"] * 3
    assert taken == [0, 0, 1, 1, 0, 0]
    assert take_device(RlOptions(device="auto", workers=2), 1) == "cpu"
    assert len(taken) == 6
