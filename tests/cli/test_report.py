import pytest
from helpers.synthetic_drives import record_drive


@pytest.fixture
def recording(tmp_path):
    return record_drive(tmp_path / "a drive.mcap", rate=40.0).path


def test_the_report_lands_beside_the_recording_or_where_it_is_wanted(cli, recording, tmp_path):
    said = cli("report", recording)
    assert (said.code, said.err) == (0, [])
    assert said.out.strip() == str(recording.with_suffix(".html"))
    assert recording.with_suffix(".html").stat().st_size > 10_000
    wanted = tmp_path / "other.html"
    assert cli("report", recording, "--out", wanted, "--json").object == {
        "recording": str(recording), "report": str(wanted)
    }  # fmt: skip
    assert wanted.read_text(encoding="utf-8") == recording.with_suffix(".html").read_text(encoding="utf-8")


def test_refusals(cli, recording, tmp_path):
    (tmp_path / "a.mcap").write_text("something else")
    assert "not a recording" in cli("report", tmp_path / "a.mcap").error
    assert "cannot read the recording" in cli("report", tmp_path / "none.mcap").error
    assert "cannot write the report" in cli("report", recording, "--out", tmp_path / "a.mcap" / "x.html").error


def test_a_table_of_forza_packets_is_plotted_at_a_rate(cli, tmp_path):
    table = tmp_path / "forza_data.csv"
    rows = "norm_driving_line,speed,angular_velocity_y\n" + "-3,17.5,0.5\n" * 301
    table.write_text(rows)
    said = cli("report", table)
    assert said.code == 0
    assert any("its rows count as 60 per second" in line for line in said.err)
    assert said.out.strip() == str(tmp_path / "forza_data.html")
    page = (tmp_path / "forza_data.html").read_text(encoding="utf-8")
    assert "forza_data" in page
    assert "<dt>simulated time</dt><dd>5.000</dd>" in page
    said = cli("report", table, "--rate", "30", "--out", tmp_path / "other.html", "--json")
    assert said.object == {"recording": str(table), "report": str(tmp_path / "other.html")}
    assert "<dt>simulated time</dt><dd>10.000</dd>" in (tmp_path / "other.html").read_text(encoding="utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["forza_data.csv", "forza_data.html", "other.html"]


def test_a_rate_is_for_tables(cli, recording, tmp_path):
    assert "the file has its own times" in cli("report", recording, "--rate", "30").error
    (tmp_path / "notes.csv").write_text("a,b\n")
    assert "no table of a drive" in cli("report", tmp_path / "notes.csv").error
