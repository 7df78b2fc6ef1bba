"""A whole driver: steers towards a point ahead on the planned line, at about seven tenths of the planned speeds."""

from trailbrake import Controls, units


class Driver:
    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def reset(self, course):
        self.line, self.speeds = course.line, 1.0 + 0.7 * course.profile.speed

    def act(self, state, dt):
        s, offset, row = self.line.locate(state.x, state.y)
        turn = units.wrap_angle(self.line.points(s + 2.0 + 0.1 * state.speed)[0, 3] - state.yaw) - 0.2 * offset
        fast = state.speed > self.speeds[row]
        return Controls(steer=max(-1.0, min(1.5 * turn, 1.0)), throttle=0.8 * (not fast), brake=0.3 * fast)
