"""The worked example of docs/kernels.md prints what the page says, in both backends."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from trailbrake.kernels import BACKEND

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numba", "python"])
def test_the_example_prints_what_the_page_says(tmp_path, capsys, backend):
    text = PAGE.read_text(encoding="utf-8")
    example = tmp_path / "example.py"
    example.write_text(re.search(r"```python\n(.*?)```", text, re.S)[1], encoding="utf-8")
    if backend == BACKEND:
        runpy.run_path(str(example), run_name="__main__")
        said = capsys.readouterr().out
    else:
        environment = {**os.environ, "TRAILBRAKE_KERNELS": backend}
        ran = subprocess.run([sys.executable, str(example)], env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        said = ran.stdout
    assert said.strip() == re.search(r"It prints `(.*?)`", text)[1]
