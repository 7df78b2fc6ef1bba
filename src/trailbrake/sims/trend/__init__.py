"""Trend Micro's Formula Trend: a camera, a small car, and Socket.IO."""

from trailbrake.event_sims.options import CallAdvice, EventLiveOptions
from trailbrake.event_sims.simulator import WorldSpec, event_simulator
from trailbrake.sims.trend import spec
from trailbrake.simulator import Deferred

SIMULATOR = event_simulator(
    spec.NAME,
    spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    options=(EventLiveOptions, spec.ServeOptions),
    world=WorldSpec("miniature", "lane_sign"),  # of the drivers by camera, the quickest
    advice=CallAdvice(
        "Formula Trend simulator",
        start="start the simulator with --ip {host} --port {port}",
        manual="driven by hand (W or S held) it sends no images: choose autonomous driving and let go of the keys",
    ),
    verify=Deferred("trailbrake.sims.trend.assumptions:VERIFY"),
)
