import msgspec

from trailbrake.race.entry_result import lost_result
from trailbrake.race.kept_files import keep_file, keep_files, unused_path


def test_no_file_is_written_over(tmp_path):
    assert unused_path(tmp_path / "a.mcap") == tmp_path / "a.mcap"
    (tmp_path / "a.mcap").touch()
    (tmp_path / "a-2.html").touch()
    assert unused_path(tmp_path / "a.mcap") == tmp_path / "a-3.mcap"


def test_a_recording_and_its_report_keep_one_name(tmp_path):
    attempt, out = tmp_path / "attempt", tmp_path / "out"
    for folder in (attempt, out):
        folder.mkdir()
    for name in ("a.mcap", "a.html", "words.log"):
        (attempt / name).write_text(name)
    (out / "a.html").write_text("of before")
    result = msgspec.structs.replace(lost_result("e0", ""), recording="a.mcap", report="a.html")
    kept = keep_files(result, attempt, out)
    assert (kept.recording, kept.report) == (str(out / "a-2.mcap"), str(out / "a-2.html"))
    assert (out / "a-2.html").read_text() == "a.html"
    assert (out / "a.html").read_text() == "of before"
    assert keep_file(attempt / "words.log", out / "words.log") == str(out / "words.log")
    without = lost_result("e0", "")
    assert keep_files(without, attempt, out) == without
