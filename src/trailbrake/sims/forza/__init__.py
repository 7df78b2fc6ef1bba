"""Forza Motorsport and Forza Horizon: telemetry ("Data Out") by UDP, and a virtual pad that drives."""

from dataclasses import replace

from trailbrake.sims.forza import spec
from trailbrake.simulator import Deferred, Simulator

SIMULATOR = Simulator(
    name=spec.NAME,
    title=spec.TITLE,
    supplies=spec.SUPPLIES,
    signals=Deferred("trailbrake.sims.forza.signals:list_signals"),
    accepts=spec.ACCEPTS,
    live_options=spec.LiveOptions,
    serve_options=spec.ServeOptions,
    link=Deferred("trailbrake.sims.forza.link:Link"),
    host=Deferred("trailbrake.sims.forza.host:Host"),
    period=spec.host_period,
    unmapped_driver="lane_keep",
    embedded_options=spec.embedded_options,
    watch_options=lambda live: replace(live, pad="none"),
    tools={
        "doctor": Deferred("trailbrake.sims.forza.doctor:DOCTOR"),
        "verify": Deferred("trailbrake.sims.forza.assumptions:VERIFY"),
        "sniff": Deferred("trailbrake.sims.forza.sniff:SNIFF"),
        "recorder": Deferred("trailbrake.sims.forza.recorder:RECORDER"),
        "replay": Deferred("trailbrake.sims.forza.replay:REPLAY"),
    },
)
