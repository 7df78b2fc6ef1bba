"""`python -m trailbrake` is `trailbrake`."""

from trailbrake.cli.main import main

if __name__ == "__main__":
    main()
