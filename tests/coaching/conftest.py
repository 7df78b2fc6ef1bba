import pytest

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive

PERSON = "experiments/habit_driver.py"


@pytest.fixture(scope="session")
def drive_person(tmp_path_factory, request):
    """Return drive_person(habit, corner): a person on kartwerk, recorded for four laps in a hatchback; driven once."""
    kept = {}

    def record(habit, corner=11):
        if (habit, corner) not in kept:
            root, folder = request.config.rootpath, tmp_path_factory.mktemp("person")
            flags = DriveFlags(sim="forza", driver=str(root / PERSON), track="kartwerk", car="hatchback", laps=4,
                               report=False, out=folder,
                               gain=("seed=3", "pace=0.94", f"habit={habit}", f"corner={corner}"))  # fmt: skip
            kept[habit, corner] = drive(flags.make_spec())["recording"]
        return kept[habit, corner]

    return record
