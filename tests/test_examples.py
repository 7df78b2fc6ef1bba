import ast
from pathlib import Path

import pytest

from trailbrake import check_driver, drive
from trailbrake.run.options import DriveOptions

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ten_line_driver.py"


def code_lines(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    first = tree.body[0].end_lineno if ast.get_docstring(tree) else 0
    return [line for line in text.splitlines()[first:] if line.strip() and not line.strip().startswith("#")]


def test_the_ten_line_driver_has_ten_lines():
    assert len(code_lines(EXAMPLE)) <= 10


def test_the_readme_shows_the_same_driver():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```python\n", 1)[1].split("```", 1)[0]
    assert [line for line in shown.splitlines() if line.strip()] == code_lines(EXAMPLE)


def test_nothing_is_wrong_with_the_ten_line_driver():
    assert check_driver(str(EXAMPLE)) == []


@pytest.mark.slow
@pytest.mark.parametrize("car", ["gt3", "hatchback"])
def test_the_ten_line_driver_drives_a_valid_lap_from_any_folder(tmp_path, car):
    # A folder whose name holds ".py": the path must not be cut there.
    own = tmp_path / ".pyenv" / "my_driver.py"
    own.parent.mkdir()
    own.write_text(EXAMPLE.read_text(encoding="utf-8"))
    summary = drive(
        DriveOptions(driver=str(own), track="pinegrove", car=car, laps=1, out=tmp_path / "out", report=False)
    )
    assert summary["ended"] == "done"
    assert [lap["valid"] for lap in summary["laps"]] == [True]
    assert summary["off_track_s"] == 0.0
