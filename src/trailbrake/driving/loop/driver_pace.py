"""`DriverPace`: the simulator takes as long for a step as the driver needs for an answer.

It begins slowly, measures how long answers take, and then requests steps a little longer than the slowest of them. A
lost sample is proof of a step that was too short. Rare answers that take far longer than the others, as those after
which a learner updates its policy, are interruptions: steps that fit them would slow down all the others.
"""

from collections import deque

from trailbrake.histogram import DurationHistogram
from trailbrake.json_types import JsonObject
from trailbrake.roles import PacedLink

FIRST_STEP_S = 0.25  # wall time of a step until the driver has been measured
MARGIN = 1.15  # a step over the slowest answer
RESERVE_S = 0.002  # wall time of a step besides the answer: reading, writing, waking up
WINDOW = 200  # answers whose slowest counts
FIRST_WINDOW = 10  # answers until the first request
HYSTERESIS = 0.9  # a step is shortened to less than this share of it, or not at all
GROWTH = 1.3  # of a step after a lost sample
LONGEST_ANSWER_S = 1.0  # longer ones are interruptions in any case: no pace fits them
OUTLIER = 4.0  # times the answer that COMMON of the recent ones stay below: longer ones are interruptions too
COMMON = 0.9


class DriverPace:
    """Keeps the steps of a simulator as long as the answers of its driver.

    Args:
        link: open; its simulator can change its pace.

    Attributes:
        durations: of the answers, s.
        step_time: s of wall time that a step takes now.
        missed: samples lost since the first request, but for those of interruptions.
        interruptions: answers that took too long for any pace, or far longer than the others.
    """

    def __init__(self, link: PacedLink) -> None:
        self.durations = DurationHistogram()
        self.missed = self.interruptions = 0
        self._link = link
        self._recent: deque[float] = deque(maxlen=WINDOW)  # s, answers; a lost sample counts as one that was too long
        self._lost = -1  # of the link's counters, at the last answer
        self.step_time = link.set_step_time(FIRST_STEP_S)

    def add_answer(self, seconds: float, lost: int) -> None:
        """Count one answer.

        Args:
            seconds: from reading the sample to having written the controls.
            lost: samples that the link has lost since it was opened.
        """
        if seconds > LONGEST_ANSWER_S:
            self.interruptions += 1
            self._lost = lost
            return
        self.durations.add_duration(seconds)
        self._recent.append(seconds)
        if len(self._recent) < FIRST_WINDOW:
            self._lost = lost
            return
        longest = OUTLIER * sorted(self._recent)[int(COMMON * len(self._recent))]
        if seconds > longest:
            self.interruptions += 1
        elif lost > self._lost:
            self.missed += lost - self._lost
            self._recent.append(GROWTH * self.step_time / MARGIN)
        self._lost = lost
        needed = MARGIN * max(answer for answer in self._recent if answer <= longest) + RESERVE_S
        if needed > self.step_time or needed < HYSTERESIS * self.step_time:
            self.step_time = self._link.set_step_time(needed)

    def describe(self) -> JsonObject:
        """Return how the pace was kept, as a summary tells it."""
        return {
            "step_time_s": self.step_time,
            "answer_mean_s": self.durations.mean,
            "answer_worst_s": self.durations.longest,
            "missed": self.missed,
            "interruptions": self.interruptions,
        }
