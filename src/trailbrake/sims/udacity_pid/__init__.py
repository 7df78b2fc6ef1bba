"""Udacity's self-driving car simulator, the build of the PID project: the distance to the line, no camera."""

from trailbrake.event_sims.options import CallAdvice, EventServeOptions
from trailbrake.event_sims.simulator import WorldSpec, event_simulator
from trailbrake.sims.udacity_pid import spec

SIMULATOR = event_simulator(
    spec.NAME,
    spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    options=(spec.LiveOptions, EventServeOptions),
    world=WorldSpec("road", "lane_pid"),
    advice=CallAdvice(
        "simulator of the PID project",
        start="start Project 4 in the simulator's menu; it calls 127.0.0.1:4567 and nothing else",
        manual="driven by hand (W or S held) it sends nothing: let go of the keys",
    ),
)
