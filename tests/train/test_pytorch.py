import sys

import pytest

from trailbrake.errors import UsageError
from trailbrake.train.pytorch import import_torch


def test_without_pytorch_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r'pip install "trailbrake\[train\]"'):
        import_torch()
