import numpy as np
import pytest
from helpers.picture_drives import record

from trailbrake.errors import UsageError
from trailbrake.record import Recording
from trailbrake.record.driving_log_export import export_driving_log
from trailbrake.train.correction_rounds import PracticeDrive, compute_expert_answers, plan_practice
from trailbrake.train.options import CloneOptions
from trailbrake.train.sources import find_sources

EXPERT = """
from trailbrake import Controls

class Driver:
    NEEDS = {"image", "speed"}

    def reset(self, course):
        self.time = 0.0

    def act(self, state, dt):
        self.time += dt
        pixels = state.image.pixels.sum(axis=(0, 2), dtype=int)
        where = (39.5 - pixels.argmax()) / 34.0
        return Controls(steer=where, throttle=min(self.time, 1.0) * state.speed, gear=1 if where < 0.8 else -1)
"""


@pytest.fixture
def expert(tmp_path):
    (tmp_path / "expert.py").write_text(EXPERT)
    return str(tmp_path / "expert.py")


def test_the_expert_answers_the_pictures_and_speeds_of_the_recording_in_their_time(tmp_path, expert):
    steers = record(tmp_path / "a.mcap", 60)
    answers = compute_expert_answers(Recording.open(tmp_path / "a.mcap"), expert)
    where = steers / 0.8
    assert answers[:, 0] == pytest.approx(where, abs=0.12)
    forwards = answers[:, 0] < 0.8
    assert answers[forwards, 1] == pytest.approx(np.minimum(0.04 * np.arange(60), 1.0)[forwards], abs=1e-9)
    assert (~forwards).any()
    assert (answers[~forwards, 1] <= 0.0).all()  # backing


def test_it_practises_where_was_recorded_in_every_paint(tmp_path):
    record(tmp_path / "a.mcap", 5, about={"track": "oval"})
    record(tmp_path / "b.mcap", 5, about={"track": "gen:4"})
    found = plan_practice(find_sources([tmp_path]), CloneOptions(rounds=1))
    looks = [("look=A",), ("look=B",)]
    assert found == [PracticeDrive(track, look) for track in ("oval", "gen:4") for look in looks]
    assert plan_practice(find_sources([tmp_path]), CloneOptions(tracks="kite", look="B")) == [
        PracticeDrive("kite", ("look=B",))
    ]


def test_logs_do_not_say_where_and_experts_must_see(tmp_path):
    record(tmp_path / "a.mcap", 5)
    export_driving_log(Recording.open(tmp_path / "a.mcap"), tmp_path / "log")
    with pytest.raises(UsageError, match="no track to practise on"):
        plan_practice(find_sources([tmp_path / "log"]), CloneOptions(rounds=1))
    with pytest.raises(UsageError, match="this expert needs more than pictures"):
        plan_practice(find_sources([tmp_path / "a.mcap"]), CloneOptions(expert="line_follow"))
