"""One doctor for all simulators of this kind; what it finds at Formula Trend is tested there."""

import pytest
from helpers.event_pairs import Ends
from helpers.ports import free_port

from trailbrake.sims import registry


@pytest.mark.parametrize("sim", ["udacity", "udacity_pid", "udacity_mpc"])
def test_nobody_calls_and_then_somebody_does(sim, tmp_path):
    simulator, port = registry.find(sim), free_port()
    clock = iter(range(1000))
    options = simulator.tools["doctor"].options(listen=f"127.0.0.1:{port}", seconds=3.0)
    said = {
        f.name: f for f in simulator.tools["doctor"].examine(options, lambda: float(next(clock)), {"DISPLAY": ":0"})
    }
    assert (said["port"].verdict, said["call"].verdict) == ("ok", "problem")
    assert f"trailbrake serve {sim} --connect 127.0.0.1:{port}" in said["call"].advice
    ends = Ends(sim, tmp_path)
    ends.link.close()
    host = simulator.make_host(ends.plant, simulator.program_options(ends.options, f"127.0.0.1:{port}", 30.0))
    host.open(0.0)
    try:

        def idle():
            ends.now += 0.02
            host.tick(ends.now)
            return ends.now

        found = list(simulator.tools["doctor"].examine(options, idle, {"DISPLAY": ":0"}))
    finally:
        host.close()
        ends.close()
    assert [finding.verdict for finding in found] == ["ok"] * len(found)
    assert {"call", "telemetry"} <= {finding.name for finding in found}
