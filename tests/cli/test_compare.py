import sys
from urllib.request import url2pathname

import pytest
from helpers.compared_drives import record_laps
from helpers.lap_log_files import make_laps, write_racebox


@pytest.fixture(scope="module")
def drives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drives")
    fast, _ = record_laps(folder / "fast.mcap", rate=50.0, laps=2)
    slow, _ = record_laps(folder / "slow.mcap", rate=50.0, laps=2, early=(0.0, 25.0))
    return fast, slow


def test_the_table_and_the_page(cli, drives):
    said = cli("compare", *drives)
    assert (said.code, said.err) == (0, [])
    lines = said.out.splitlines()
    assert lines[0].startswith("reference fast, lap 2, ")
    first = next(line for line in lines if line.strip().startswith("T"))
    assert first.split()[0] == "T2"
    page = drives[0].with_name("fast_compare.html")
    assert lines[-1] == str(page)
    assert "fast against slow on stadium" in page.read_text(encoding="utf-8")


def test_no_row_is_wider_than_a_terminal_of_80_columns(cli, drives, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = cli("compare", *drives, "--no-page").out.splitlines()
    assert max(map(len, lines)) <= 80
    first = next(i for i, line in enumerate(lines) if line.startswith("T"))
    assert lines[first + 1].startswith("  "), "the sentence has rows of its own, below the figures"
    assert lines[first + 1].split()[0].isalpha()


def test_the_page_is_opened_on_request_alone(cli, drives, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    cli("compare", *drives)
    assert opened == []
    cli("compare", *drives, "--open")
    assert [url2pathname(url.removeprefix("file://")) for url in opened] == [
        str(drives[0].with_name("fast_compare.html").resolve())
    ]
    assert cli("compare", *drives, "--no-page", "--open").err == [
        "trailbrake: no page was written that could be opened"
    ]


def test_json_without_a_page_and_a_lap_by_its_number(cli, drives, tmp_path):
    said = cli("compare", f"{drives[0]}#1", drives[1], "--no-page", "--json")
    assert [lap["number"] for lap in said.object["laps"]] == [1, 2]
    assert (said.object["page"], said.object["png"]) == (None, None)
    assert cli("compare", drives[1], drives[0], "--reference", "1", "--no-page", "--json").object["reference"] == 0


def test_refusals(cli, drives, tmp_path):
    assert "no such drive" in cli("compare", *drives, "--reference", "3").error
    assert "no such lap" in cli("compare", f"{drives[0]}#8", drives[1]).error
    assert "cannot read the recording" in cli("compare", tmp_path / "none.mcap").error


def test_laps_of_other_tools_are_compared(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path / "cache"))
    laps = make_laps(25.0)
    said = cli("compare", write_racebox(tmp_path / "a.csv", laps), "--json", "--out", tmp_path / "c.html")
    assert said.code == 0
    times = sorted(lap["time_s"] for lap in said.object["laps"] if lap["valid"])
    assert times == pytest.approx(sorted(laps.lap_times), abs=0.01)
    assert any("so km/h" in line for line in said.err)
    assert (tmp_path / "c.html").is_file()
