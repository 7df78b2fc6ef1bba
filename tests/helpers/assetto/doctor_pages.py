"""The pages of a session, for the doctor."""

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire import acpmf


def publish(shm, step=0):
    (shm / "acpmf_physics").write_bytes(acpmf.encode_physics(acpmf.Physics(packet_id=6660 + step)))
    (shm / "acpmf_graphics").write_bytes(acpmf.encode_graphics(acpmf.Graphics(status=acpmf.LIVE)))
    (shm / "acpmf_static").write_bytes(acpmf.encode_static(acpmf.Static(track="imola", num_cars=1)))
    (shm / spec.car_name(0)).write_bytes(codec.encode_car(codec.CarData(packet_id=5 + step, wheels_valid_surface=15)))
    (shm / spec.controls_name(0)).write_bytes(codec.encode_controls(codec.CarControls(gas=0.5)))
