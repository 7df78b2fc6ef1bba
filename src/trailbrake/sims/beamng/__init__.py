"""BeamNG's tight coupling over UDP: a controller in lockstep with the physics of the car."""

from dataclasses import replace

from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.simulator import Deferred, Simulator
from trailbrake.simulator_tools import LinkRecorder

SIMULATOR = Simulator(
    name=spec.NAME,
    title=spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    supplied=Deferred("trailbrake.sims.beamng.message_format:find_supplied"),
    signals=Deferred("trailbrake.sims.beamng.signals:list_signals"),
    live_options=spec.LiveOptions,
    serve_options=spec.ServeOptions,
    link=Deferred("trailbrake.sims.beamng.link:make_link"),
    host=Deferred("trailbrake.sims.beamng.host:Host"),
    period=lambda options: PHYSICS_STEP,
    paced_by="answers",
    cars=lambda options: options.vehicles,
    pace=lambda options: "max",
    embedded_options=spec.embedded_options,
    options_for_car=lambda live, car: replace(live, vehicle=car),
    watch_options=lambda live: replace(live, take=False),
    tools={
        "doctor": Deferred("trailbrake.sims.beamng.doctor:DOCTOR"),
        "verify": Deferred("trailbrake.sims.beamng.assumptions:VERIFY"),
        "setup": Deferred("trailbrake.sims.beamng.setup:SETUP"),
        "sniff": Deferred("trailbrake.sims.beamng.sniff:SNIFF"),
        "probe": Deferred("trailbrake.sims.beamng.probe:PROBE"),
        "recorder": LinkRecorder(spec.RecordOptions),
    },
)
