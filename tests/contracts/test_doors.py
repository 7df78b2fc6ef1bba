"""Every simulator's and every tool's options listen on this machine only, and call this machine only, by default."""

import dataclasses
import re

import pytest

from trailbrake.sims import registry
from trailbrake.transport.websocket import is_loopback

# Receives telemetry of consoles and of games that send from the network card's address; nothing drives through it.
OPEN = {("forza", "listen")}
ADDRESS = re.compile(r"^(?P<host>[\w.\-]+):(?P<port>\d+)$")


def option_classes(simulator):
    candidates = [simulator.live_options, simulator.serve_options, simulator.watch_options]
    candidates += [getattr(getattr(simulator, name, None), "options", None) for name in ("doctor", "record", "sniff")]
    return [found for found in candidates if dataclasses.is_dataclass(found)]


@pytest.mark.parametrize("name", registry.simulator_names())
def test_addresses_are_those_of_this_machine(name):
    found = 0
    for options in option_classes(registry.find(name)):
        for field in dataclasses.fields(options):
            match = ADDRESS.match(field.default) if isinstance(field.default, str) else None
            if match and (name, field.name) not in OPEN:
                found += 1
                assert is_loopback(match["host"]), f"{options.__name__}.{field.name} is {field.default}"
    assert found or name in ("assetto", "forza")
