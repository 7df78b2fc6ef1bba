import pytest
from synthetic_drives import record_drive


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
