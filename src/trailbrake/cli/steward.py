"""`steward`: who was at fault for the contacts of a drive of several cars."""

from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.cli.runs import find_recording


def steward(recordings: Annotated[list[str], Parameter(consume_multiple=True)], *, json: JsonFlag = False) -> None:
    """Name the contacts of a recorded drive of several cars, and who was at fault by the rules of conduct.

    Args:
        recordings: one car's recording, a file or a run by its id, `last`, `best`, with the others' beside it; or all.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.race_motion import open_race
    from trailbrake.analysis.steward import judge_recordings, list_verdicts
    from trailbrake.record.recording_reader import Recording

    cars = [Recording.open(find_recording(name)) for name in recordings]
    cars = open_race(cars[0]) if len(cars) == 1 else cars
    judged = judge_recordings(cars)
    if json:
        print_json({"recordings": [str(car.path) for car in cars], "contacts": list_verdicts(judged)})
        return
    for contact in judged:
        print(contact.describe())
    if not judged:
        print(f"no contacts of {len(cars)} cars")
