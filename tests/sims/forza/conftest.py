"""The embedded car behind the wire, a plain receiver, and a host with a link in lockstep."""

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.sims.forza import codec, spec
from trailbrake.sims.forza.host import Host
from trailbrake.sims.forza.link import Link
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.udp import UdpSocket
from trailbrake.world.plant import World


def world(options, car="hatchback", track="hartmoor"):
    return World(load_track(track), [load_car(car)], period=spec.host_period(options))


class Served:
    """A host that sends to a plain socket, and a plain socket that sends pad reports: a stranger's view."""

    def __init__(self, plant=None, **options):
        self.receiver, self.pad = UdpSocket(), UdpSocket()
        self.options = spec.ServeOptions(send=f"127.0.0.1:{self.receiver.port}", pad_port=0, **options)
        self.plant = plant or world(self.options)
        self.host = Host(self.plant, self.options)
        self.now = 0.0
        self.host.open(self.now)

    def tick(self, times=1):
        """Tick and return the datagrams that came out."""
        came = []
        for _ in range(times):
            self.now += self.plant.period
            self.host.tick(self.now)
            while (got := self.receiver.receive()) is not None:
                came.append(got[0])
        return came

    def packets(self, times=1):
        return [codec.decode_packet(data) for data in self.tick(times)]

    def press(self, data):
        self.pad.send(data, ("127.0.0.1", self.host.pad_port))

    def close(self):
        self.host.close()
        self.receiver.close()
        self.pad.close()


class Lockstep:
    """A host and a link that meet in a folder."""

    def __init__(self, folder, car="hatchback", track="hartmoor", **options):
        self.options = spec.ServeOptions(steering="linear", **options)
        self.plant = world(self.options, car, track)
        self.now = 0.0
        self.host = Host(self.plant, self.options, doors=folder)
        self.host.open(self.now)
        self.link = Link(doors=folder, idle=self.tick)
        self.link.open(self.tick())

    def tick(self):
        self.now += self.plant.period
        self.host.tick(self.now)
        return self.now

    def drive(self, controls, times):
        for _ in range(times):
            self.link.write(controls)
            self.tick()
            state = self.link.read(self.now)
        return state

    def close(self):
        self.link.close()
        self.host.close()


@pytest.fixture
def serve():
    made = []

    def start(plant=None, **options):
        made.append(Served(plant, **options))
        return made[-1]

    yield start
    for served in made:
        served.close()


@pytest.fixture
def lockstep(tmp_path):
    made = []

    def start(**options):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Lockstep(folder, **options))
        return made[-1]

    yield start
    for session in made:
        session.close()
