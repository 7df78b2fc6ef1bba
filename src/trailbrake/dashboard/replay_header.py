"""The header of a replay: that of a drive, with road and line as they were recorded, and the laps to choose from."""

from typing import Any

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.dashboard.page_messages import build_header, describe_edges, thin_points
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.errors import TrailbrakeError
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.road import Road


def replay_header(recording: Recording, player: ReplayPlayer, road: Road | None) -> dict[str, Any]:
    """Return what a page needs before the first frame of a replay.

    Args:
        recording: whose title, road and line are shown.
        player: whose laps are listed.
        road: the track; None where it is not known: the recorded edges are shown.
    """
    known = {signal["name"]: signal for signal in recording.about.get("signals", ()) if _is_signal(signal)}
    plain = {"unit": "", "meaning": ""}
    signals = [{**plain, **known.get(name, {}), "name": name} for name in recording.signals]
    header = build_header({**recording.about, "signals": signals}, road, None, by_hand=False)
    edges = recording.road_map
    if road is None and edges is not None:
        header["map"] = describe_edges(edges.closed, edges.left, edges.right)
    plan = recording.plan
    if plan is not None:
        header["line"] = thin_points(zip(plan.x, plan.y, strict=True))
    header["replay"] = player.describe_recording()
    return header


def find_recorded_car(recording: Recording) -> CarParams | None:
    """Return the model of the car in a recording; None where it names none that this machine has."""
    name = recording.about.get("car")
    try:
        return load_car(name) if isinstance(name, str) and name else None
    except TrailbrakeError:
        return None


def _is_signal(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("name", "unit", "meaning"))
