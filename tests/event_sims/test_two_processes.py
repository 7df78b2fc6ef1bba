"""Udacity's builds by two processes: our simulator and agents of others, and our agents with our simulator apart."""

import signal

import pytest
from helpers.ports import free_port
from helpers.processes import command
from helpers.socketio_agents import PidAgent, WaypointAgent, listening, ring

AGENTS = {"udacity_pid": PidAgent, "udacity_mpc": WaypointAgent}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sim", "dialect"),
    [("udacity_pid", "auto"), ("udacity_mpc", "auto"), ("udacity_pid", "bare"), ("udacity_mpc", "bare")],
)
def test_an_agent_of_others_drives_a_lap_of_our_simulator(sim, dialect, tmp_path):
    agent = AGENTS[sim]()
    with (
        listening(agent) as port,
        command("serve", sim, "--json", f"--connect=127.0.0.1:{port}", f"--track={ring(tmp_path)}", "--laps=1",
                "--pace=lockstep", f"--dialect={dialect}", "--seconds=40", shm=tmp_path) as served,
    ):  # fmt: skip
        assert served.end(120.0) == 0, served.said
    (laps,) = served.summary["laps"]
    assert [lap["valid"] for lap in laps] == [True]
    assert 30.0 < laps[0]["time_s"] < 80.0
    assert (served.summary["contacts"], served.summary["rejected"]) == (0, 0)
    if dialect == "bare":
        assert agent.paths == ["/"]
        assert agent.frames[0].startswith('{"telemetry":{')
    else:
        assert agent.paths == ["/socket.io/?EIO=4&transport=websocket"]
        assert agent.frames[0] == "2"  # the Unity client's ping, which nobody answers here
        assert agent.frames[1].startswith('42["telemetry",{')


@pytest.mark.slow
def test_our_agent_drives_a_lap_of_a_simulator_in_another_process(tmp_path):
    port, track = free_port(), ring(tmp_path, straight=21.0, radius=11.0)  # live goes at the pace of real time
    with (
        command("serve", "udacity_mpc", "--json", f"--connect=127.0.0.1:{port}", f"--track={track}", "--pace=lockstep",
                "--dialect=bare", "--seconds=80", shm=tmp_path) as served,
        command("drive", "--live", "--sim=udacity_mpc", "--driver=waypoint_follow", f"--listen=127.0.0.1:{port}",
                "--laps=1", f"--track={track}", "--car=hatchback", "--no-report", "--json", f"--out={tmp_path}",
                shm=tmp_path) as drive,
    ):  # fmt: skip
        assert drive.end(100.0) == 0, drive.said
        served.process.send_signal(signal.SIGINT)
        assert served.end(20.0) == 0, served.said
    assert drive.summary["ended"] == "done"
    assert [lap["valid"] for lap in drive.summary["laps"]] == [True]
    assert served.summary["contacts"] == 0
    assert served.summary["laps"][0][0]["valid"]
    # Ours goes by the wire's clock, one telemetry of 0.04 s fine.
    assert drive.summary["laps"][0]["time_s"] == pytest.approx(served.summary["laps"][0][0]["time_s"], abs=0.05)
