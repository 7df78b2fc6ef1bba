"""A recording of a few dozen ticks in which every field has a value."""

from helpers.synthetic_drives import LapDone, state_at
from trailbrake.record import Recorder
from trailbrake.state import Controls, WheelTorque
from trailbrake.state.tables import CONTROL_COLUMNS

WHEELS = tuple(WheelTorque(10.0 * i, 5.0 * i) for i in range(4))
# Every field has a value: NaN would not equal itself.
SETTINGS = {c.name: 0.5 for c in CONTROL_COLUMNS if "torque" not in c.name and c.name != "gear"}
CONTROLS = Controls(**SETTINGS | {"steer": 0.25}, gear=3, wheels=WHEELS)


def tick(recorder, i, dt=0.003):
    recorder.tick(state_at(i * dt, 50.0 * i * dt, 50.0, 0.5, i * dt, i), CONTROLS)


def small_drive(path, ticks=40, dt=0.03):
    recorder = Recorder(path)
    recorder.start({"sim": "synthetic", "seed": 1})
    recorder.store_map([[0, 0], [1, 0]], [[0, 1], [1, 1]], [[0, -1], [1, -1]], closed=False)
    recorder.store_plan([0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [10.0, 11.0])
    for i in range(ticks):
        tick(recorder, i, dt)
    recorder.store_event(0.3, "Überholt 追い越し")
    recorder.store_lap(LapDone(1, 1.17, True, (0.5, 0.67)))
    recorder.store_lap(LapDone(2, 1.25, False, (), "three wheels off", 0.5, 2))
    recorder.close()
    return recorder.path
