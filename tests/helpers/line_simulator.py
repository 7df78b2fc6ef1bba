"""A simulator in a file of the user's: a wire that is a list in memory, served by the embedded world."""

TEXT = '''
from dataclasses import dataclass

from trailbrake.roles import LinkCounters
from trailbrake.simulator import Simulator
from trailbrake.state import CarState, Controls, Phase

SUPPLIES = frozenset({{"time", "sequence", "age", "phase", "x", "y", "yaw", "speed", "velocity_x", "velocity_y",
                      "acceleration_y", "yaw_rate", "gear"}})
ACCEPTS = frozenset({{"steer", "throttle", "brake"}})
WIRE = []


@dataclass
class Live:
    """Options.

    Attributes:
        listen: where.
    """

    listen: str = "here"


@dataclass
class Serve:
    """Options.

    Attributes:
        rate: 1/s.
    """

    rate: float = 50.0


class Link:
    SUPPLIES, ACCEPTS = SUPPLIES, ACCEPTS
    period = 0.02

    def __init__(self, options, *, doors=None, idle=None):
        self.counters, self.last = LinkCounters(), -1

    def open(self, now):
        WIRE.clear()

    def has_new_sample(self):
        return bool(WIRE) and WIRE[-1].sequence != self.last

    def read(self, now):
        if not WIRE:
            return CarState(age=1.0, phase=Phase.LOST)
        self.last = WIRE[-1].sequence
        return WIRE[-1]

    def write(self, controls):
        Host.controls = controls

    def send_command(self, command):
        pass

    def release(self):
        pass

    def close(self):
        pass


class Host:
    controls = Controls()

    def __init__(self, plant, options, *, doors=None):
        self.plant = plant

    def open(self, now):
        pass

    def tick(self, now):
        self.plant.step([Host.controls])
        WIRE.append(self.plant.car_state(0))

    def read_counters(self):
        return {{}}

    def close(self):
        pass


SIMULATOR = Simulator(
    name="{name}", title="Lines", supplies=SUPPLIES, accepts=ACCEPTS, live_options=Live, serve_options=Serve,
    link=Link, host=Host, period=lambda options: 1.0 / options.rate,
)
'''


def write_simulator(folder, old="", new="", name="lines"):
    """Write the file, with one text in it changed; return its path."""
    text = TEXT.format(name=name)
    assert old in text
    path = folder / f"{name}_sim.py"
    path.write_text(text.replace(old, new) if old else text)
    return path
