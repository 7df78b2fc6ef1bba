import sys
from types import SimpleNamespace

import pytest

from trailbrake.errors import UsageError
from trailbrake.kernels import cuda_compiler
from trailbrake.train.pytorch import choose_device, import_torch, take_device


def test_without_pytorch_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r'pip install "trailbrake\[train\]"'):
        import_torch()


@pytest.mark.train
def test_the_processor_is_asked_nothing(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: pytest.fail("a card was sought"))
    assert choose_device("cpu") == "cpu"


@pytest.mark.train
def test_without_a_card_one_line_says_what_is_missing(monkeypatch):
    torch = pytest.importorskip("torch")
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


@pytest.mark.train
def test_a_card_that_only_one_of_the_libraries_can_use_is_none(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda_compiler, "require_cuda", lambda: None)
    assert choose_device("cuda") == choose_device("auto") == "cuda"

    def refuse():
        raise UsageError("the driver of the graphics card is too old", where="CUDA")

    monkeypatch.setattr(cuda_compiler, "require_cuda", refuse)
    assert choose_device("auto") == "cpu"
    with pytest.raises(UsageError, match="too old"):
        choose_device("cuda")


@pytest.mark.train
def test_workers_take_cards_in_turn(monkeypatch):
    torch = pytest.importorskip("torch")
    taken = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(cuda_compiler, "require_cuda", lambda: SimpleNamespace(select_device=taken.append))
    assert [take_device("cuda", rank) for rank in range(3)] == ["cuda"] * 3
    assert taken == [0, 0, 1, 1, 0, 0]
    assert take_device("auto", 1) == "cpu"
    assert len(taken) == 6
