"""What the doctor of donkeycar finds."""

from helpers.event_pairs import Ends
from helpers.ports import free_port

from trailbrake.sims.donkeycar import codec, spec
from trailbrake.sims.donkeycar.doctor import DoctorOptions, examine
from trailbrake.sims.donkeycar.host import Host


def test_the_doctor(tmp_path, monkeypatch):
    port = free_port()
    clock = iter(range(1000))
    (finding,) = examine(DoctorOptions(f"127.0.0.1:{port}", 3.0), lambda: float(next(clock)))
    assert (finding.name, finding.verdict) == ("server", "problem")
    ends = Ends("donkeycar", tmp_path)
    host = Host(ends.plant, spec.ServeOptions(listen=f"127.0.0.1:{port}", pace="lockstep"))
    host.open(0.0)

    def idle():
        ends.now += 0.05
        host.tick(ends.now)
        return ends.now

    found = list(examine(DoctorOptions(f"127.0.0.1:{port}", 3.0), idle))
    ends.now += 10.0
    monkeypatch.setattr(codec, "encode_telemetry", lambda message: {"speed": "fast"})
    *_, unreadable = examine(DoctorOptions(f"127.0.0.1:{port}", 3.0), idle)
    host.close()
    ends.close()
    assert [(f.name, f.verdict) for f in found] == [
        ("server", "ok"), ("scenes", "ok"), ("telemetry", "ok"), ("pictures", "ok")
    ]  # fmt: skip
    assert "160 x 120, 0 unreadable" in found[-1].found
    assert (unreadable.name, unreadable.verdict) == ("telemetry", "problem")
    assert "of its messages cannot be read" in unreadable.advice, "and no other client is blamed"
