import json
import sys

import pytest
from helpers.synthetic_drives import record_drive

from trailbrake.errors import UsageError
from trailbrake.record import Recording
from trailbrake.record.viewer_exports import describe_foxglove_layout, export_foxglove_layout, export_rerun
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return Recording.open(record_drive(tmp_path_factory.mktemp("drive") / "a.mcap", rate=20.0, laps=1).path)


def panels_of(node):
    return [node] if isinstance(node, str) else panels_of(node["first"]) + panels_of(node["second"])


def test_the_layout_shows_topics_and_columns_that_recordings_have(tmp_path):
    export_foxglove_layout(tmp_path / "layout.json")
    layout = json.loads((tmp_path / "layout.json").read_text(encoding="utf-8"))
    assert layout == describe_foxglove_layout()
    assert sorted(panels_of(layout["layout"])) == sorted(layout["configById"])
    known = {f"/state.{c.name}" for c in STATE_COLUMNS} | {f"/controls.{c.name}" for c in CONTROL_COLUMNS}
    plots = [panel for name, panel in layout["configById"].items() if name.startswith("Plot")]
    assert {path["value"] for plot in plots for path in plot["paths"]} <= known
    with pytest.raises(UsageError, match="cannot write"):
        export_foxglove_layout(tmp_path / "none" / "layout.json")


def test_a_file_of_rerun(recording, tmp_path):
    pytest.importorskip("rerun", exc_type=ImportError)
    assert export_rerun(recording, tmp_path / "a.rrd") == len(recording)
    assert (tmp_path / "a.rrd").read_bytes().startswith(b"RRF2")
    assert (tmp_path / "a.rrd").stat().st_size > 10_000


def test_without_rerun_a_line_says_what_to_install(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(UsageError, match=r"trailbrake\[rerun\]"):
        export_rerun(recording, tmp_path / "a.rrd")
