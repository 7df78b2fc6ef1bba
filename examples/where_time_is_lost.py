"""Print the three corners that cost most between two recordings: where_time_is_lost.py FIRST.mcap SECOND.mcap."""

import sys

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.record import Recording


def main(first: str, second: str) -> None:
    comparison = compare_drives([DriveChoice(Recording.open(path), path) for path in (first, second)])
    for index, losses in enumerate(comparison.losses):
        for loss in losses[:3]:
            print(f"{comparison.name_lap(index)}: {loss.corner.name} {loss.lost_s:+.3f} s. {loss.advice}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
