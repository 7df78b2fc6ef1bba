import re

import pytest
from helpers.compared_drives import record_laps

QUICK = ("--car=f1", "--no-limit", "--no-page")  # a named car is not learned from the laps


@pytest.fixture(autouse=True)
def recordings(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "recordings"))
    return tmp_path / "recordings"


@pytest.fixture(scope="module")
def drives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drives")
    return [record_laps(folder / f"{name}.mcap", laps=3, driver="me")[0] for name in ("one", "two")]


def test_the_verb_says_what_was_used_and_writes_the_page_and_all_times_in_one_way(cli, drives):
    said = cli("coach", *drives, "--no-limit")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "laps used: 4, recordings: 2"
    assert any(re.match(r"your best \d\d\.\d{3};", line) for line in lines)
    page = drives[0].with_name("one_coach.html")
    assert lines[-1] == str(page)
    assert all(len(line) <= 79 for line in lines[:-1])
    assert "Your laps" in page.read_text("utf-8")
    times = re.findall(r"\S*\d+\.\d{3}", " ".join(line for line in lines if "best" in line or "limit" in line))
    times += re.findall(r"\S*\d+\.\d{3}", cli("coach", "--history").out)
    assert len(times) == 4
    assert all(re.fullmatch(r"\(?\d\d\.\d{3}", time) for time in times)


def test_the_values_are_one_object(cli, drives):
    found = cli("coach", *drives, *QUICK, "--json").object
    assert [lap["number"] for lap in found["laps"]] == [2, 3, 2, 3]
    assert found["ideal_s"] <= found["best_s"]
    assert found["page"] is None
    assert found["findings"] == []


def test_what_cannot_be_read_is_one_line_and_the_rest_is_coached(cli, drives, tmp_path):
    (tmp_path / "notes.txt").write_text("no laps")
    said = cli("coach", drives[0], tmp_path / "notes.txt", tmp_path / "none.mcap", *QUICK)
    assert said.code == 0
    assert len([line for line in said.err if line.startswith("not used:")]) == 2
    assert said.out.splitlines()[0] == "laps used: 2, recordings: 1"
    assert "nothing to coach" in cli("coach", tmp_path / "notes.txt").err[-1]


def test_a_folder_stands_for_its_recordings_and_pages_are_passed_over(cli, drives, tmp_path):
    folder = tmp_path / "laps"
    folder.mkdir()
    for path in drives:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "one.html").write_text("<!doctype html>")
    (folder / ".hidden").write_text("no laps")
    for given in ([folder], [folder / "one.html", folder / "one.mcap", folder / "two.mcap"]):
        said = cli("coach", *given, *QUICK)
        assert said.out.splitlines()[0] == "laps used: 4, recordings: 2"
        assert not [line for line in said.err if line.startswith("not used:")]
    assert "nothing to coach" in cli("coach", folder / "one.html").err[-1]


def test_a_folder_that_cannot_be_made_is_a_note_and_the_laps_are_compared(cli, drives, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file where the folder should be")
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path / "cache"))
    said = cli("coach", drives[0], "--no-limit", "--no-page")
    assert said.code == 0
    assert "cannot make the folder" in " ".join(line.strip() for line in said.out.splitlines())


def test_the_history_makes_no_folder(cli, recordings):
    assert cli("coach", "--history").out == "no session has been coached yet\n"
    assert not recordings.exists()


def test_a_drive_without_laps_invents_nothing(cli, tmp_path):
    path, _ = record_laps(tmp_path / "a.mcap", laps=1)
    lines = cli("coach", path, "--no-limit").out.splitlines()
    assert lines[0] == "laps used: 0, recordings: 1"
    assert "nothing can be compared" in " ".join(lines)
    assert not any("FIRST" in line for line in lines)


def test_laps_that_are_not_of_the_named_track_are_refused_with_the_distance(cli, drives):
    lines = cli("coach", *drives, "--track", "pinegrove", "--no-limit", "--no-page").out.splitlines()
    assert "not driven on this track" in " ".join(line.strip() for line in lines)
    assert any(line.startswith("your best") for line in lines)


def test_sessions_are_listed_at_80_columns_and_as_one_object(cli, drives, monkeypatch):
    assert cli("coach", "--history").out == "no session has been coached yet\n"
    cli("coach", *drives, *QUICK)
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("coach", "--history").out.splitlines()
    assert lines[0] == "point on stadium"
    assert lines[2].split()[-2:] == ["no", "habit"]
    (session,) = cli("coach", "--history", "--json").object["sessions"]
    assert (session["laps"], session["worked_on"]) == (4, None)
    assert "expected no recordings beside it" in cli("coach", drives[0], "--history").error


def test_a_session_that_cannot_be_kept_is_one_line_and_is_coached(cli, drives, recordings):
    recordings.write_text("a file where the folder should be")
    said = cli("coach", drives[0], *QUICK)
    assert (said.code, said.out.splitlines()[0]) == (0, "laps used: 2, recordings: 1")
    assert [line for line in said.err if line.startswith("this session is not kept: ")]
