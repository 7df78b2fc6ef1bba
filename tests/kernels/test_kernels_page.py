"""The worked example of docs/kernels.md prints what the page says, in both backends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numba", "python"])
def test_the_example_prints_what_the_page_says(tmp_path, backend):
    text = PAGE.read_text(encoding="utf-8")
    example = tmp_path / "example.py"
    example.write_text(re.search(r"```python\n(.*?)```", text, re.S)[1], encoding="utf-8")
    environment = {**os.environ, "TRAILBRAKE_KERNELS": backend}
    done = subprocess.run([sys.executable, str(example)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == re.search(r"It prints `(.*?)`", text)[1]
