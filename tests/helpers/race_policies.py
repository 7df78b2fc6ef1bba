"""Policies for tests that follow the plan of a lap: a network made by hand, without a training."""

import numpy as np

from trailbrake.control.network import NetworkLayer
from trailbrake.drivers.loading.race_policy import RacePolicy
from trailbrake.observe.actions import CommandLimits
from trailbrake.observe.task_spec import TaskSpec

OBSERVE = ("motion", "lane", "asked", "plan")


def follow_plan(slower=12.0, **changes):
    """Return a policy that steers towards the planned line and drives `slower` m/s below the planned speeds."""
    task = TaskSpec(OBSERVE)
    names, ahead = task.number_names, task.slices[3].start
    weight = np.zeros((2, task.width), np.float32)
    bias = np.zeros(2, np.float32)
    # The steer wanted minus the steer commanded: the outputs are changes of the steer.
    weight[0, names.index("asked.commanded_steer")] = -8.0
    weight[0, ahead] = 8.0 * 0.12  # lateral distance of the line, over 3 m
    weight[0, ahead + 1] = 8.0 * 0.12  # its direction, over 0.2 rad
    weight[0, ahead + 2 + 3 * 1 + 1] = 8.0 * 0.05 * 2.7 / 0.52 * 1.3  # its curvature a third of a second ahead
    weight[1, ahead + 2 + 3 * 4 + 2] = 10.0 * 0.25  # planned minus own speed a second ahead, over 10 m/s
    bias[1] = -0.25 * slower
    policy = RacePolicy(
        OBSERVE, CommandLimits(), np.zeros(task.width, np.float32), np.ones(task.width, np.float32),
        [NetworkLayer(weight, bias)], {"made": "by hand"},
    )  # fmt: skip
    return RacePolicy(**{**vars(policy), **changes})
