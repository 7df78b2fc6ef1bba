"""Assetto Corsa with Custom Shaders Patch, interface Custom AI."""

from dataclasses import replace

from trailbrake.sims.assetto import spec
from trailbrake.simulator import Deferred, Simulator
from trailbrake.simulator_tools import LinkRecorder

SIMULATOR = Simulator(
    name=spec.NAME,
    title=spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    supplied=spec.list_supplied,
    signals=Deferred("trailbrake.sims.assetto.signals:list_signals"),
    live_options=spec.LiveOptions,
    serve_options=spec.ServeOptions,
    link=Deferred("trailbrake.sims.assetto.link:make_link"),
    host=Deferred("trailbrake.sims.assetto.host:Host"),
    period=lambda options: 1.0 / spec.RATE_HZ,
    paced_by="link",
    cars=lambda options: options.cars,
    embedded_options=spec.embedded,
    options_for_car=lambda live, car: replace(live, car_index=live.car_index + car),
    watch_options=lambda live: replace(live, take=False),
    tools={
        "doctor": Deferred("trailbrake.sims.assetto.doctor:DOCTOR"),
        "verify": Deferred("trailbrake.sims.assetto.assumptions:VERIFY"),
        "setup": Deferred("trailbrake.sims.assetto.setup:SETUP"),
        "sniff": Deferred("trailbrake.sims.assetto.sniff:SNIFF"),
        "control": Deferred("trailbrake.sims.assetto.control:CONTROL"),
        "recorder": LinkRecorder(spec.RecordOptions),
        "session": Deferred("trailbrake.sims.assetto.session_detection:SESSION"),
    },
)
