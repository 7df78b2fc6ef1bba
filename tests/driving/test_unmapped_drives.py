"""`drive --live` as a new user types it, to a served world on a road and with a car that are not the defaults."""

import re
import signal
import sys

import pytest
from helpers.ports import free_udp_port
from helpers.processes import command

from trailbrake.record.recording_reader import Recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="stops the served world by a signal"),
]


def test_forza_without_a_track_keeps_the_lane_and_nothing_is_called_by_another_name(tmp_path):
    telemetry, pad = f"127.0.0.1:{free_udp_port()}", free_udp_port()
    with command("serve", "forza", "--track=gen:7", "--car=hatchback", f"--send={telemetry}", f"--pad-port={pad}",
                 shm=tmp_path) as serve:  # fmt: skip
        serve.until("ready ")
        with command("drive", "--sim=forza", "--live", "--json", f"--listen={telemetry}", f"--pad=udp:127.0.0.1:{pad}",
                     "--seconds=5", f"--out={tmp_path}", shm=tmp_path) as drive:  # fmt: skip
            assert "nothing is planned or scored" in drive.until("the road is not known")
            assert drive.end() == 0, drive.said
        serve.process.send_signal(signal.SIGINT)
        assert serve.end() == 0, serve.said
    summary = drive.summary
    assert (summary["driver"], summary["track"], summary["car"], summary["ended"]) == ("lane_keep", "", "", "done")
    assert summary["mean_speed_mps"] > 3.0
    assert [summary[name] for name in ("predicted_s", "max_abs_lateral_error_m", "off_track_s")] == [None, None, None]
    recording = Recording.open(summary["recording"])
    assert abs(recording.state["driving_line"][len(recording) // 2 :]).max() < 0.8  # it is on the road
    assert (recording.about["track"], recording.about["car"], recording.road_map, recording.plan) == (
        "",
        "",
        None,
        None,
    )
    page = (tmp_path / recording.path.with_suffix(".html").name).read_text(encoding="utf-8")
    assert re.search(r"<title>([^<]*)", page)[1].startswith("lane_keep · unmapped road, forza")
    assert not any(name in page + recording.path.name for name in ("gt3", "hartmoor", "lakeside"))


@pytest.mark.parametrize("driver", ["line_track", "heading_hold"])
def test_beamng_drives_without_a_road_or_not_at_all(tmp_path, driver):
    ours, theirs = free_udp_port(), free_udp_port()
    with command("serve", "beamng", "--track=gen:7", "--car=hatchback", f"--send=127.0.0.1:{ours}",
                 "--receive-host=127.0.0.1", f"--receive-port={theirs}", "--json", shm=tmp_path) as serve:  # fmt: skip
        serve.until("ready ")
        words = ["drive", "--sim=beamng", "--live", "--json", f"--listen=127.0.0.1:{ours}",
                 f"--peer=127.0.0.1:{theirs}", "--seconds=3", f"--out={tmp_path}"]  # fmt: skip
        with command(*words, *([] if driver == "line_track" else [f"--driver={driver}"]), shm=tmp_path) as drive:
            code = drive.end()
        serve.process.send_signal(signal.SIGINT)
        assert serve.end() == 0, serve.said
    if driver == "line_track":  # BeamNG's default driver
        assert code == 2
        assert "line_track plans on a road, and the road is not known" in drive.said[-1]
        assert not list(tmp_path.glob("*.mcap"))
        assert serve.summary["messages_in"] == 0
    else:
        assert (code, drive.summary["track"], drive.summary["car"]) == (0, "", "")
        assert drive.summary["mean_speed_mps"] > 1.0
