from trailbrake.state import Controls


def test_the_debug_logs_have_the_message_in_columns(session, tmp_path):
    session.serve(simulink_time=0.001, debug_file=tmp_path / "log")
    link = session.connect(simulink_time=0.001)
    session.exchange(link, Controls(throttle=0.5), times=4)
    session.host.close()
    sent, received, steps = (
        (tmp_path / f"log_{kind}.csv").read_text().splitlines() for kind in ("send", "receive", "physics")
    )
    assert sent[0] == "time," + ",".join(map(str, range(1, 112)))
    assert received[0] == "time," + ",".join(map(str, range(1, 65)))
    assert steps[0] == "time"
    assert [line.split(",")[:2] for line in sent[1:3]] == [["0.001", "0.0"], ["0.002", "1.0"]]
    assert received[1].split(",")[1:3] == ["1.0", "0.5"]
    assert len(steps) - 1 == session.plant.steps
