"""Udacity's self-driving car simulator, the build of the MPC project: pose and waypoints, no camera."""

from trailbrake.event_sims.options import CallAdvice, EventLiveOptions, EventServeOptions
from trailbrake.event_sims.simulator import WorldSpec, event_simulator
from trailbrake.sims.udacity_mpc import spec

SIMULATOR = event_simulator(
    spec.NAME,
    spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    options=(EventLiveOptions, EventServeOptions),
    world=WorldSpec("road", "waypoint_follow"),
    advice=CallAdvice(
        "simulator of the MPC project",
        start="start Project 5 in the simulator's menu; it calls 127.0.0.1:4567 and nothing else",
        manual="driven by hand (W or S held) it sends nothing: let go of the keys",
    ),
)
