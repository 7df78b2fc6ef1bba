"""Udacity's self-driving car simulator, term 1: a camera and two numbers, Socket.IO."""

from trailbrake.event_sims.options import CallAdvice, EventLiveOptions, EventServeOptions
from trailbrake.event_sims.simulator import WorldSpec, event_simulator
from trailbrake.sims.udacity import spec

SIMULATOR = event_simulator(
    spec.NAME,
    spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    options=(EventLiveOptions, EventServeOptions),
    world=WorldSpec("road", "road_sight", camera=spec.CAMERA),
    advice=CallAdvice(
        "simulator of Udacity's first term",
        start="choose a track and AUTONOMOUS MODE in the simulator's menu; it calls 127.0.0.1:4567 and nothing else",
        manual="driven by hand (W or S held) it sends no images: let go of the keys",
    ),
)
