"""The steward against contacts whose fault is known by construction, and over recordings of the world."""

from collections import Counter

import numpy as np
import pytest
from helpers.contact_scenes import ease, make_scenes, rear_end_on_a_straight, record_scene, squeezes_on_a_straight

from trailbrake.analysis.contact_fault import WINDOW
from trailbrake.analysis.race_motion import open_race
from trailbrake.analysis.report import write_report
from trailbrake.analysis.steward import JudgedContact, judge_recordings, list_verdicts
from trailbrake.errors import DataError, UsageError
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState, Controls


def judge(path):
    return judge_recordings(open_race(Recording.open(path)))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """Scene and verdict of every labelled contact, each out of two recordings."""
    found = []
    for scene in make_scenes():
        (contact,) = judge(record_scene(tmp_path_factory.mktemp("scene"), scene))
        found.append((scene, contact))
    return found


def test_of_112_labelled_contacts_nine_in_ten_are_right_and_none_is_wrong(verdicts):
    right = [contact.fault == scene.fault for scene, contact in verdicts]
    wrong = [(scene.kind, scene.seed, contact) for scene, contact in verdicts
             if contact.fault not in (scene.fault, None)]  # fmt: skip
    assert len(right) == 112
    assert wrong == []
    assert sum(right) >= 0.9 * len(right), Counter(scene.kind for (scene, _), ok in zip(verdicts, right, strict=True)
                                                   if not ok)  # fmt: skip


def test_every_kind_of_fault_is_named_by_a_rule_of_its_own(verdicts):
    rules = {scene.kind: contact.rule for scene, contact in verdicts if contact.fault is not None}
    assert rules["weaves"] == "more than one change of direction to defend"
    assert rules["brake test"] == "braked without a reason"
    assert rules["returns unsafely"] == "unsafe return to the road"
    assert rules["dive without overlap"] == "no overlap at turn-in"
    assert rules["chops in the braking zone"] == "change of direction in front of a car that is close"
    assert all(contact.source and contact.evidence for _, contact in verdicts)
    assert all(5.0 <= contact.time_s - 10.0 <= 7.0 < WINDOW + 2.0 for _, contact in verdicts)


def test_the_order_of_the_cars_and_their_clocks_do_not_matter(tmp_path):
    for seed in range(4):
        scene = squeezes_on_a_straight(seed)
        for k, (clocks, order) in enumerate((((0.0, 0.0), (0, 1)), ((0.0, -3.0), (0, 1)), ((1.0, 2.0), (1, 0)))):
            (tmp_path / f"{seed}{k}").mkdir()
            (contact,) = judge(record_scene(tmp_path / f"{seed}{k}", scene, clocks, order))
            assert order[contact.fault] == scene.fault


def test_a_car_that_a_third_has_just_pushed_is_not_at_fault(tmp_path):
    scene = rear_end_on_a_straight(4)
    third = scene.s[1] - 5.5 + ease(4.0, 1.0)  # on the tail of car 1 from 5 s on
    scene.s, scene.n = np.vstack([scene.s, third]), np.vstack([scene.n, scene.n[1]])
    first, second, *_ = judge(record_scene(tmp_path, scene))
    assert (first.first, first.second, first.fault) == (1, 2, 2)
    assert (second.first, second.second, second.fault, second.rule) == (0, 1, None, "pushed by car 2")


def test_rows_for_json_and_the_report_have_the_evidence(tmp_path):
    scene = rear_end_on_a_straight(1)
    path = record_scene(tmp_path, scene, about={"car": "gt3"})
    (row,) = list_verdicts(judge(path))
    (place,) = scene.s[0][Recording.open(path).state["time"] == row["time_s"]]
    assert row["s_m"] == pytest.approx(place, abs=0.2)  # of the first car, at that time; rows are 0.65 m apart
    assert (row["first"], row["second"], row["fault"]) == (0, 1, 1)
    assert row["evidence"]["faster_by_mps"] == pytest.approx(row["relative_mps"], abs=0.1)
    for recording in open_race(Recording.open(path)):
        page = write_report(recording).read_text()
        assert "car 1 at fault: ran into the car ahead (C 2.d)" in page


def test_a_car_alone_and_a_recording_without_a_road_are_one_line(tmp_path):
    path = record_scene(tmp_path, rear_end_on_a_straight(2))
    with pytest.raises(UsageError, match="needs the recordings of two cars"):
        judge_recordings([Recording.open(path)])
    bare = Recorder(tmp_path / "bare.mcap")
    bare.tick(CarState(time=0.0, x=0.0, y=0.0, yaw=0.0, speed=1.0), Controls())
    bare.close()
    with pytest.raises(DataError, match="has no road"):
        judge_recordings([Recording.open(tmp_path / "bare.mcap")] * 2)
    (tmp_path / "scene_2_car1.mcap").unlink()
    assert "<h2>Contacts</h2>" not in write_report(path).read_text()


def test_cars_that_pass_without_touching_are_not_named(tmp_path):
    scene = squeezes_on_a_straight(3)
    scene.n[1] -= 3.0 * np.sign(scene.n[0, 0])
    assert judge(record_scene(tmp_path, scene)) == []


def test_a_contact_at_the_first_row_and_cars_that_vanish_are_unclear_not_an_error(tmp_path):
    scene = rear_end_on_a_straight(6)
    late = int(np.argmax(np.abs(scene.s[0] - scene.s[1]) < 4.6)) - 2
    scene.s, scene.n, scene.brake = scene.s[:, late:], scene.n[:, late:], scene.brake[:, late:]
    scene.s[:, 20:] += np.array([[0.0], [np.nan]])  # the second is gone soon after
    (contact,) = judge(record_scene(tmp_path, scene))
    assert (contact.fault, contact.rule) == (None, "too little was recorded before it")


def test_a_contact_is_described_in_words():
    evidence = {"faster_by_mps": 3.149, "speed_ahead_mps": 39.2, "overlap_at_turn_in": 0.05, "car_1_moved_m": 1.5}
    contact = JudgedContact(1.5, 2.0, 0, 1, 343.0, 3.1, 1, "ran into the car ahead", "C 2.d", evidence)
    assert contact.describe() == (
        "1.50 s, 343 m: cars 0 and 1, car 1 at fault: ran into the car ahead (C 2.d); "
        "faster by 3.15 m/s, speed ahead 39.20 m/s, overlap at turn in 0.05, car 1 moved 1.50 m"
    )
