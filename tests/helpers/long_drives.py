"""A drive of some laps, with signals, pictures and events, in one recording of one or several files."""

from helpers.small_drives import CONTROLS
from helpers.synthetic_drives import LapDone, edges, state_at
from trailbrake.record import Recorder
from trailbrake.state import Image, SignalValues
from trailbrake.state.signals import make_signal

SIGNALS = (make_signal("beamng.fuel", "1", "fuel"),)
LAP_TICKS = 70  # of 0.01 s
TICKS = 4000


def record_long_drive(path, limits, ticks=TICKS, laps=True, wrap=lambda recorder: recorder):
    recorder = wrap(Recorder(path, signals=SIGNALS, limits=limits))
    recorder.store_map(edges(0.0), edges(6.0), edges(-6.0), closed=True)
    recorder.store_plan([0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [9.0, 9.0])
    recorder.start({"sim": "synthetic", "driver": "half \ud800 surrogate"})
    for i in range(ticks):
        state = state_at(i * 0.01, 0.5 * i, 50.0, 0.5, i * 0.01, i)
        state.signals = SignalValues({"beamng.fuel": 0}, (float(i),))
        if i % 50 == 0:
            state.image = Image(b"\xff\xd8" + i.to_bytes(4, "little"), lambda data: data)
        recorder.tick(state, CONTROLS)
        if laps and i % LAP_TICKS == LAP_TICKS - 1:
            recorder.store_lap(LapDone(i // LAP_TICKS + 1, 0.7, True, ()))
            recorder.store_event(i * 0.01, f"lap at {i}")
    recorder.store_wire_counters({"link": {"lost": 3}})
    recorder.close()
    assert recorder.error == ""
    return recorder
