"""A point-mass car for the stub of BeamNG's game side: forces in, one state message of 111 doubles out.

Frames and units are those of the wire: z up, yaw 0 along world -y and counter-clockwise, steering input positive to
the right, body forward -y. There is no slip: the velocity lies along the heading, the wheels roll. Pedals and steering
act from the next graphics frame on, wheel torques from the next physics step on; both are held, and NaN keeps the
held value. Steering follows its demand at a limited rate, and curvature is limited by grip, so that samples never jump.
"""

import math
import struct

STEP_S = 0.0005
STATE, COMMAND = struct.Struct("<111d"), struct.Struct("<64d")
COMMAND_RANGES = [(0.0, 1.0), (0.0, 1.0), (-1.0, 1.0)]  # throttle, brake, steering
START = (-920.0, 870.0, 75.0, math.pi / 2)  # x, y, z in m, yaw in rad: facing +x

MASS, GRAVITY, GRIP, RADIUS, WHEELBASE, TRACK = 1400.0, 9.81, 9.0, 0.32, 2.6, 1.5  # GRIP: m/s^2
DRIVE_FORCE, POWER, BRAKE_FORCE, ROLLING, DRAG = 6000.0, 120e3, 12e3, 200.0, 0.4  # N, W, N, N, N/(m/s)^2
WHEEL_LOCK, LARGEST_ANGLE, STEERING_RATE = 450.0, 0.5, 4.0  # degrees of the wheel, rad of the road wheels, 1/s
RATIOS, IDLE_RPM, LARGEST_RPM, MOST_TORQUE = (14.0, 8.5, 5.8, 4.3, 3.4), 900.0, 7000.0, 1e5


def command_is_in_range(values):
    """Return whether a command's pedals, steering and wheel torques (negative brakes) are in the wire's ranges."""
    pedals = all(low <= v <= high or v != v for v, (low, high) in zip(values[1:4], COMMAND_RANGES, strict=True))
    return pedals and not any(v > 0.0 for v in values[5:9]) and not any(math.isinf(v) for v in values[5:14])


class PointMassCar:
    """The car and the commands that it holds. `step` advances it by 0.5 ms."""

    def __init__(self, pose=START):
        self.x, self.y, self.z, self.yaw = pose
        self.speed = self.acceleration = self.yaw_rate = self.steering = 0.0
        self.demands, self.torques, self.torque_mode = [0.0] * 3, [0.0] * 8, False
        self.propulsion, self.braking, self.gear = [0.0] * 4, [0.0] * 4, 1  # torques in Nm
        self.latch_frame()

    def apply_command(self, values):
        """Hold the 64 doubles of an accepted command; NaN keeps what is held."""
        for i, (low, high) in enumerate(COMMAND_RANGES):
            if values[1 + i] == values[1 + i]:
                self.demands[i] = min(max(values[1 + i], low), high)
        for i, torque in enumerate(values[5:13]):
            if torque == torque:
                self.torques[i] = min(max(torque, -MOST_TORQUE), MOST_TORQUE)
        if values[13] == values[13]:
            self.torque_mode = values[13] >= 0.5

    def latch_frame(self):
        """Take the held pedals and steering, and refresh the values that the game computes once per graphics frame."""
        self.throttle, self.brake, self.steering_input = self.demands
        wheel_rpm = abs(self.speed) / RADIUS * 30.0 / math.pi
        if self.gear < len(RATIOS) and wheel_rpm * RATIOS[self.gear - 1] > 6300.0:
            self.gear += 1
        elif self.gear > 1 and wheel_rpm * RATIOS[self.gear - 1] < 2500.0:
            self.gear -= 1
        rpm = min(max(wheel_rpm * RATIOS[self.gear - 1], IDLE_RPM), LARGEST_RPM)
        pedals = [self.throttle] * 2 + [self.brake] * 2 + [0.0] * 4
        self.bank_a = [*pedals, -self.steering * WHEEL_LOCK, self.steering_input]
        self.bank_c = [2.0, float(self.gear), 0.75, self.throttle, 0.0, 0.0, LARGEST_RPM, 0.0, rpm, 0.0, 0.0]

    def step(self):
        if self.torque_mode:
            self.braking, self.propulsion = [max(-t, 0.0) for t in self.torques[:4]], self.torques[4:]
        else:
            drive = self.throttle * min(DRIVE_FORCE, POWER / max(abs(self.speed), 1.0))
            self.braking, self.propulsion = [self.brake * BRAKE_FORCE * RADIUS / 4] * 4, [drive * RADIUS / 4] * 4
        drive = min(max(sum(self.propulsion) / RADIUS, -MASS * GRIP), MASS * GRIP)
        resistance = min(sum(self.braking) / RADIUS, MASS * GRIP) + ROLLING + DRAG * self.speed**2
        pushed = self.speed + drive / MASS * STEP_S
        speed = math.copysign(max(abs(pushed) - resistance / MASS * STEP_S, 0.0), pushed)
        self.acceleration = (speed - self.speed) / STEP_S
        most = STEERING_RATE * STEP_S
        self.steering += min(max(self.steering_input - self.steering, -most), most)
        curvature = -math.tan(self.steering * LARGEST_ANGLE) / WHEELBASE  # 1/m, positive to the left
        most = GRIP / max(speed * speed, 1e-3)
        self.yaw_rate = speed * min(max(curvature, -most), most)
        middle, way = self.yaw + self.yaw_rate * STEP_S / 2, (self.speed + speed) / 2 * STEP_S
        self.x, self.y = self.x + way * math.sin(middle), self.y - way * math.cos(middle)
        yaw = self.yaw + self.yaw_rate * STEP_S
        self.yaw, self.speed = math.pi - (math.pi - yaw) % (2 * math.pi), speed  # in (-pi, pi]

    def encode_state(self, message_id):
        velocity = [self.speed * math.sin(self.yaw), -self.speed * math.cos(self.yaw), 0.0]
        body = [self.speed * self.yaw_rate, -self.acceleration, -GRAVITY]  # left, backward, up; gravity included
        bank_b = [self.x, self.y, self.z, *velocity, abs(self.speed), *body, 0.0, 0.0, self.yaw, self.z]
        sides = [-TRACK / 2, TRACK / 2] * 2  # FL, FR, RL, RR: the left wheels are slower in a left bend
        speeds = [self.speed + self.yaw_rate * side for side in sides]
        wheels = []
        for speed, braking, propulsion in zip(speeds, self.braking, self.propulsion, strict=True):
            wheels += [speed / RADIUS, speed, braking, propulsion, 5.0, MASS * GRAVITY / 4]
        bank_c = [*self.bank_c, sum(abs(speed) for speed in speeds) / 4]
        return STATE.pack(float(message_id), *self.bank_a, *bank_b, *bank_c, *wheels, *[0.0] * 50)
