import numpy as np

from trailbrake.env.learner_batch import restart_ended


class Batch:
    """Learners that start at zero."""

    n = 4

    def restart(self, learners, out):
        out[learners] = 0.0

    def end_name(self, code):
        return {0: "", -1: "limit", 2: "contact"}[code]


def test_ended_episodes_restart_and_their_last_observations_are_kept():
    out, ends = np.arange(8.0).reshape(4, 2), np.array([0, 2, 0, -1])
    info = restart_ended(Batch(), out, ends, {"time": np.array([1.0, 2.0, 3.0, 4.0])})
    assert out.tolist() == [[0.0, 1.0], [0.0, 0.0], [4.0, 5.0], [0.0, 0.0]]
    assert [last if last is None else last.tolist() for last in info["final_obs"]] == [
        None,
        [2.0, 3.0],
        None,
        [6.0, 7.0],
    ]
    assert info["final_info"]["why"].tolist() == ["", "contact", "", "limit"]
    assert info["final_info"]["time"].tolist() == [0.0, 2.0, 0.0, 4.0]
    for mask in (info["_final_obs"], info["_final_info"], info["final_info"]["_why"], info["final_info"]["_time"]):
        assert mask.tolist() == [False, True, False, True]
