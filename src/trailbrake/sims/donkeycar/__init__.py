"""The simulator of donkeycar and gym-donkeycar (sdsandbox): a camera and more, JSON over TCP."""

from trailbrake.sims.donkeycar import spec
from trailbrake.simulator import Deferred, Simulator

SIMULATOR = Simulator(
    name=spec.NAME,
    title=spec.TITLE,
    supplies=spec.SUPPLIES,
    accepts=spec.ACCEPTS,
    live_options=spec.LiveOptions,
    serve_options=spec.ServeOptions,
    link=Deferred("trailbrake.sims.donkeycar.link:Link"),
    host=Deferred("trailbrake.sims.donkeycar.host:Host"),
    period=lambda options: spec.PERIOD,
    pace=lambda options: "max" if options.pace == "lockstep" else "real",
    world="road",
    camera=spec.pinhole_camera(spec.CameraPlace()),
    default_driver="lane_pid",
    embedded_options=lambda live, cars: spec.ServeOptions(pace="lockstep"),
    tools={"doctor": Deferred("trailbrake.sims.donkeycar.doctor:DOCTOR")},
)
