import pytest
from helpers.compared_drives import record_laps
from helpers.driver_files import write_driver


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    record_laps(tmp_path / "fast.mcap", rate=20.0, laps=2)
    record_laps(tmp_path / "slow.mcap", rate=20.0, laps=2, early=(0.0, 25.0), driver="[red]<b>slow</b>")
    return tmp_path


def test_the_table_has_a_row_for_each_run(cli, folder):
    said = cli("runs")
    assert (said.code, said.err) == (0, [])
    assert "[red]<b>slow</b>" in said.out, "markup in a name is text"
    assert [run["id"] for run in cli("runs", "--json").object["runs"]] == ["slow", "fast"]
    found = cli("runs", "--json", "--driver", "fast", "--track", "stadium", "--simulator", "synthetic").object
    assert [run["laps"] for run in found["runs"]] == [2]
    assert cli("runs", "--json", "--limit", "1").object["more"] == 1


def test_tags_are_added_removed_and_searched(cli, folder):
    cli("runs", "--run", "slow", "--add-tag", "wet", "--add-tag", "test")
    cli("runs", "--run", "slow", "--remove-tag", "test")
    (run,) = cli("runs", "--tag", "wet", "--json").object["runs"]
    assert (run["id"], run["tags"]) == ("slow", ["wet"])
    assert "a tag belongs to a run" in cli("runs", "--add-tag", "x").error


def test_verbs_take_runs(cli, folder):
    found = cli("compare", "best", "slow", "--no-page", "--json").object
    assert found["laps"][1]["corners"][0]["name"] == "T2"
    assert cli("report", "last").out.strip() == str(folder / "slow.html")
    assert len(cli("export", "fast").out.splitlines()) > 1000
    assert "no such recording or run" in cli("report", "nothing").error
    assert "cannot read the recording" in cli("report", "../nothing").error
    assert "no number of rows" in cli("runs", "--limit", "-1").error


def test_a_recording_is_replayed_as_a_page_or_open_loop(cli, folder, tmp_path):
    driver = write_driver(tmp_path / "still.py", "return Controls(brake=1.0)")
    assert cli("replay", "fast").out.strip() == str(folder / "fast.html")
    assert 'id="player"' in (folder / "fast.html").read_text(encoding="utf-8")
    done = cli("replay", "fast", "--driver", driver, "--json").object
    assert done["path"] == str(folder / "fast_open-loop_still.mcap")
    assert done["brake_rms"] > 0.5
    assert "no datagrams" in cli("replay", "fast.mcap", "--to", "127.0.0.1:9").error
    assert "need a receiver" in cli("replay", driver).error
    assert "only a recording" in cli("replay", driver, "--driver", "cruise").error


def test_one_run_tells_its_drive(cli, folder):
    spec = {"version": 1, "site": {"kind": "embedded", "track": "oval"}, "cars": [{"driver": "mine.py"}]}
    record_laps(folder / "ours.mcap", rate=20.0, laps=1, spec=spec)
    assert cli("runs", "--run", "ours", "--json").object["runs"][0]["spec"] == spec
    assert "mine.py" in cli("runs", "--run", "ours").out
    assert cli("runs", "--run", "fast", "--json").object["runs"][0]["spec"] is None
    assert "spec" not in cli("runs", "--json").object["runs"][0]
