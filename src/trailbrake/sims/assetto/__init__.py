"""Assetto Corsa with Custom Shaders Patch, interface Custom AI."""

from trailbrake.sims.assetto import spec
from trailbrake.simulator import Deferred, Simulator


def _describe_serving(options: spec.ServeOptions) -> str:
    """Return what `serve` prints: the folder of the pages, and what it refuses."""
    from trailbrake.transport.shm import SharedMemory  # `--help` imports this module

    pages = f"pages in {SharedMemory().folder}"
    return pages if options.refuse == "nothing" else f"{pages}; refuses cars: {spec.REFUSALS[options.refuse]}"


SIMULATOR = Simulator(
    name=spec.NAME,
    title=spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    signals=Deferred("trailbrake.sims.assetto.signals:list_signals"),
    live_options=spec.LiveOptions,
    serve_options=spec.ServeOptions,
    link=Deferred("trailbrake.sims.assetto.observing_link:make_link"),
    host=Deferred("trailbrake.sims.assetto.host:Host"),
    period=spec.period,
    paced_by="link",
    cars=spec.cars,
    embedded_options=spec.embedded,
    options_for_car=spec.options_for_car,
    watch_options=spec.watch_options,
    record_options=spec.RecordOptions,
    recorder=Deferred("trailbrake.sims.assetto.recorder:RECORDER"),
    describe=_describe_serving,
    traffic_driver=spec.traffic_driver,
    wants_drawing=spec.wants_drawing,
    drawing=Deferred("trailbrake.sims.assetto.draw:PlanDrawing"),
    doctor=Deferred("trailbrake.sims.assetto.doctor:DOCTOR"),
    setup=Deferred("trailbrake.sims.assetto.setup:SETUP"),
    sniff=Deferred("trailbrake.sims.assetto.sniff:SNIFF"),
    control=Deferred("trailbrake.sims.assetto.control:CONTROL"),
    session=Deferred("trailbrake.sims.assetto.session_detection:SESSION"),
)
