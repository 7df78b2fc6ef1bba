"""The embedded world on a small circle behind the wire, in lockstep."""

from types import SimpleNamespace

from helpers.assetto.foreign_pages import pages
from helpers.roads import circle
from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.host import Host
from trailbrake.world.plant import World


def serve_circle(folder, **options):
    """A host with the classic pages in front of hatchbacks on a circle of 30 m, ticked in lockstep."""
    world = World(circle(30.0, half_width=14.0), [load_car("hatchback")] * options.get("cars", 1))
    said = []
    host = Host(world, spec.ServeOptions(**options), doors=folder, say=said.append)
    host.open(0.0)
    ticks = 0

    def tick(times=1):
        nonlocal ticks
        for _ in range(times):
            ticks += 1
            host.tick(ticks * world.period)

    return SimpleNamespace(host=host, world=world, said=said, tick=tick, folder=pages(folder))
