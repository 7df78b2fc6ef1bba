"""A client of our own words, our link, and the simulator's end, in processes of their own."""

import base64
import json
import signal
from io import BytesIO

import pytest
from helpers.donkeycar_client import Script
from helpers.ports import free_port
from helpers.processes import command
from helpers.socketio_agents import ring
from PIL import Image


@pytest.mark.slow
def test_a_script_from_the_public_list_of_messages_drives_a_lap(tmp_path):
    port = free_port()
    with command("serve", "donkeycar", "--json", f"--listen=127.0.0.1:{port}", f"--track={ring(tmp_path)}",
                 "--pace=lockstep", "--seconds=60", shm=tmp_path) as served:  # fmt: skip
        served.until("ready")
        script = Script(port)
        script.run()
        served.process.send_signal(signal.SIGINT)
        assert served.end(20.0) == 0, served.said
    assert script.kinds == ["scene_selection_ready", "scene_names", "car_loaded", "telemetry",
                            "collision_with_starting_line"]  # fmt: skip
    ((lap,),) = served.summary["laps"]
    assert lap["valid"]
    assert 0.0 < script.crossed[0] < 2.0  # when it rolls; the host's own lap begins at rest, at 0
    assert script.crossed[1] == pytest.approx(lap["time_s"], abs=0.05)
    assert (served.summary["contacts"], served.summary["rejected"], served.summary["ignored"]) == (0, 0, 0)
    with Image.open(BytesIO(base64.b64decode(script.last["image"]))) as picture:
        assert (picture.format, picture.size) == ("PNG", (80, 60))


@pytest.mark.slow
def test_our_link_drives_a_simulator_in_another_process(tmp_path):
    port, track = free_port(), ring(tmp_path, straight=24.0, radius=20.0)
    with (
        command("serve", "donkeycar", "--json", f"--listen=127.0.0.1:{port}", f"--track={track}", "--seconds=80",
                shm=tmp_path) as served,
        command("drive", "--live", "--sim=donkeycar", "--driver=lane_pid", f"--connect=127.0.0.1:{port}", "--seconds=3",
                f"--track={track}", "--car=hatchback", "--no-report", "--json", f"--out={tmp_path}",
                shm=tmp_path) as drive,
    ):  # fmt: skip
        assert drive.end(100.0) == 0, drive.said
        served.process.send_signal(signal.SIGINT)
        assert served.end(20.0) == 0, served.said
    assert json.loads(drive.out)["ended"] == "done"
    assert drive.summary["off_track_s"] == 0.0
    assert drive.summary["mean_speed_mps"] > 1.0
