"""`steward`: who was at fault for the contacts of a drive of several cars."""

from typing import Annotated

from cyclopts import Parameter

from trailbrake.cli.output import JsonFlag, print_json
from trailbrake.cli.runs import find_recording


def steward(recordings: Annotated[list[str], Parameter(consume_multiple=True)], *, json: JsonFlag = False) -> None:
    """Name the contacts of a recorded drive of several cars, and who was at fault by the rules of conduct.

    Args:
        recordings: one car's recording, a file or a run by its id, `last`, `best`, with those of the others beside it.
            Or all of them, the one with the road first.
        json: print one JSON object on stdout.
    """
    from trailbrake.analysis.race_motion import find_recordings
    from trailbrake.analysis.steward import judge_recordings, list_verdicts
    from trailbrake.record.recording_reader import Recording

    paths = [find_recording(name) for name in recordings]
    paths = find_recordings(paths[0]) if len(paths) == 1 else paths
    judged = judge_recordings([Recording.open(path) for path in paths])
    if json:
        print_json({"recordings": [str(path) for path in paths], "contacts": list_verdicts(judged)})
        return
    for contact in judged:
        print(contact.describe())
    if not judged:
        print(f"no contacts of {len(paths)} cars")
