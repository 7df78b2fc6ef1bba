"""Host and link of a simulator by the road, over real sockets, in lockstep, on a clock of our own."""

from functools import cache

from trailbrake.cars.load import load as load_car
from trailbrake.sims import registry
from trailbrake.tracks.load import load as load_track
from trailbrake.world.seen import SeenWorld


@cache
def place():
    return load_track("lakeside"), load_car("hatchback")


class Ends:
    """`drive(ticks, controls)` returns the states seen; the plant is the embedded world on lakeside."""

    def __init__(self, sim, folder, live=None, **options):
        spec = registry.part(sim, "spec")
        track, car = place()
        self.options = spec.ServeOptions(**{"pace": "lockstep"} | options)
        camera = spec.camera() if hasattr(spec, "camera") else None
        self.plant = SeenWorld(track, [car], period=spec.period(self.options), camera=camera)
        self.host = registry.part(sim, "host").Host(self.plant, self.options, doors=folder)
        self.now = 0.0
        self.host.open(0.0)
        self.link = registry.part(sim, "link").Link(live, doors=folder, idle=self.tick)

    def tick(self):
        self.now += self.plant.period
        self.host.tick(self.now)
        return self.now

    def drive(self, ticks, controls):
        states = []
        while len(states) < ticks:
            self.tick()
            if self.link.fresh():
                states.append(self.link.read(self.now))
                self.link.write(controls)
        return states

    def close(self):
        self.link.close()
        self.host.close()
