"""BeamNG's tight coupling over UDP: a controller in lockstep with the physics of the car."""

from trailbrake.sims.beamng import spec
from trailbrake.simulator import Deferred, Simulator

SIMULATOR = Simulator(
    name=spec.NAME,
    title=spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    supplied=Deferred("trailbrake.sims.beamng.message_format:find_supplied"),
    signals=Deferred("trailbrake.sims.beamng.signals:list_signals"),
    live_options=spec.LiveOptions,
    serve_options=spec.ServeOptions,
    link=Deferred("trailbrake.sims.beamng.passive_link:make_link"),
    host=Deferred("trailbrake.sims.beamng.host:Host"),
    period=spec.host_period,
    paced_by="answers",
    cars=spec.car_count,
    pace=spec.serve_pace,
    describe=spec.describe_options,
    answer_delay=spec.answer_delay,
    embedded_options=spec.embedded_options,
    options_for_car=spec.options_for_car,
    watch_options=spec.watch_options,
    record_options=spec.RecordOptions,
    recorder=Deferred("trailbrake.sims.beamng.recorder:RECORDER"),
    doctor=Deferred("trailbrake.sims.beamng.doctor:DOCTOR"),
    setup=Deferred("trailbrake.sims.beamng.setup:SETUP"),
    sniff=Deferred("trailbrake.sims.beamng.sniff:SNIFF"),
    probe=Deferred("trailbrake.sims.beamng.probe:PROBE"),
)
