"""Ask a driver what it would have done in a recorded drive: second_opinion.py DRIVE.mcap DRIVER."""

import sys

from trailbrake.driving.open_loop import OpenLoopOptions, replay_open_loop
from trailbrake.record import Recording


def main(drive: str, driver: str) -> None:
    done = replay_open_loop(Recording.open(drive), OpenLoopOptions(driver))
    print(f"steer differs by {done.steer_rms:.3f}, throttle by {done.throttle_rms:.3f}, brake by {done.brake_rms:.3f}")
    print(done.path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
