"""A policy learned by `trailbrake train rl` as a driver: `--driver policy:FILE`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.drivers.loading.race_policy_file import ACTION, RacePolicy
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.planning.course import Course
from trailbrake.planning.plan_table import tabulate_plan
from trailbrake.state import CarState, Controls


class Driver:
    """Drives by a network that observes the car's state, the road ahead and, if it learned so, a plan of the lap.

    A command holds for the period that the policy learned with, however short the period of the wire is.

    Args:
        policy: the policy.

    Attributes:
        NEEDS: what its observation needs.
        uses_kerbs: whether the line that it observes uses the kerbs.
    """

    COURSE_NEEDS = frozenset({"track", "car"})
    OPTIONAL_COMMANDS = RoadReturn.COMMANDS

    def __init__(self, policy: RacePolicy) -> None:
        self.policy = policy
        self.uses_kerbs = policy.on_kerbs
        self._task = TaskSpec(policy.observe, action=ACTION)
        self.NEEDS = self._task.observation_needs | {"x", "y", "yaw", "speed", "time"}
        self.USES = RoadReturn.USES - self.NEEDS

    def reset(self, course: Course) -> None:
        """Plan the lap where the policy observes a plan, and forget the last command."""
        course = course.with_kerbs() if self.uses_kerbs else course
        plan = tabulate_plan(course) if self._task.needs_plan else None
        self._observer = StateObserver(self._task, course.track.road, course.known_car(), plan=plan)
        self._road_return = RoadReturn(course)
        self._restart()

    def _restart(self) -> None:
        self._observer.reset()
        self._commands: NDArray[np.float64] = np.zeros(2)
        self._controls: Any = None
        self._elapsed = 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        rescue = self._road_return.rescue(state, dt)
        if rescue is not None:
            self._restart()
            return rescue
        self._elapsed += dt
        # Half a sample early rather than half a sample late: a whole number of samples is nearest to the period.
        if self._controls is None or dt == 0.0 or self._elapsed >= self.policy.limits.period - 0.5 * dt:
            self._elapsed = 0.0
            observation = self._observer.observe(state)
            self._commands = self.policy.compute_commands(observation, self._commands)
            self._controls = self._observer.decode_action(self._commands)
        return Controls(
            steer=self._controls.steer, throttle=self._controls.throttle, brake=self._controls.brake, gear=None
        )
