import sys

import pytest
from helpers.compared_drives import record_laps

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.analysis.comparison_plot import plot_comparison
from trailbrake.errors import UsageError
from trailbrake.record import Recording


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    path, _ = record_laps(tmp_path_factory.mktemp("drive") / "a.mcap", rate=30.0, laps=2)
    return compare_drives([DriveChoice(Recording.open(path), "a")])


@pytest.mark.slow
def test_a_picture(comparison, tmp_path):
    pytest.importorskip("matplotlib", exc_type=ImportError)
    plot_comparison(comparison, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="cannot write the picture"):
        plot_comparison(comparison, tmp_path / "a.nonsense")


def test_without_matplotlib_a_line_says_what_to_install(comparison, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"trailbrake\[plot\]"):
        plot_comparison(comparison, tmp_path / "a.png")
