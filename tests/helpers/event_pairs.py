"""Host and link of a simulator by the road, over real sockets, in lockstep, on a clock of our own."""

from functools import cache

from trailbrake.cars.car_library import load_car
from trailbrake.sims import registry
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import CameraWorld


@cache
def place():
    return load_track("lakeside"), load_car("hatchback")


class Ends:
    """`drive(ticks, controls)` returns the states seen; the plant is the embedded world on lakeside."""

    def __init__(self, sim, folder, live=None, **options):
        simulator = registry.find(sim)
        track, car = place()
        self.options = simulator.serve_options(**{"pace": "lockstep"} | options)
        self.plant = CameraWorld(track, [car], period=simulator.period(self.options), camera=simulator.camera)
        self.host = simulator.make_host(self.plant, self.options, doors=folder)
        self.now = 0.0
        self.host.open(0.0)
        self.link = simulator.make_link(live or simulator.live_options(), doors=folder, idle=self.tick)

    def tick(self):
        self.now += self.plant.period
        self.host.tick(self.now)
        return self.now

    def drive(self, ticks, controls):
        states = []
        while len(states) < ticks:
            self.tick()
            if self.link.has_new_sample():
                states.append(self.link.read(self.now))
                self.link.write(controls)
        return states

    def close(self):
        self.link.close()
        self.host.close()
