"""Cars of published minimum-time problems, as `trailbrake.optimal` takes them, and the road of one of them.

Numbers come from the problems' own files. Where a model differs from ours, the difference is named.
"""

import math
from pathlib import Path
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from trailbrake.cars.axle_forces import LoadParameters
from trailbrake.optimal.interior_point import LEVELS, MeshSolution, solve_mesh
from trailbrake.optimal.mesh import guess_motion
from trailbrake.optimal.stage import Rounding, StageParameter
from trailbrake.optimal.transcription import Mesh, scale_unknowns
from trailbrake.optimal.vehicle_model import AxleParameters, VehicleModel

LAP_LENGTH, HALF_TRACK = 4634.150, 0.73  # m, of the published lap: its length, and what it keeps off the edges
PUBLISHED_TIME = 77.791438  # s, of that lap
RACECAR_STEP = 3.0  # m
RACECAR_MARGIN = 0.7  # m; the problem keeps the middle of the car (2.0 m wide) half of 3.4 m off the edges


def racecar() -> VehicleModel:
    """Return the car "racecar" of the minimum-time problem that TUM publishes.

    Source: TUMFTM/global_racetrajectory_optimization, params/racecar.ini, friction 1.0, without the limits of its
    "safe" trajectories. The problem takes longitudinal forces as inputs, one half of each axle's on either wheel,
    inside of the circle of friction; here a slip of a thousandth stands for one wheel load, and an open differential
    for the halves. It limits the rates of the controls (0.2 s from straight to full steer); here a small cost smooths
    them. Its rolling resistance is that of the static loads.
    """
    friction, load_slope, nominal_load = 1.0, -0.1, 3000.0
    b, c, e = 10.0, 2.5, 1.0
    per_slip = 1000.0

    def tyre(slip, tan_angle, load, grip):
        angle = b * ca.atan(tan_angle)
        curve = ca.sin(c * ca.atan(angle - e * (angle - ca.atan(angle))))
        fx = per_slip * slip * load
        fy = -grip * friction * load * (1.0 + load_slope * load / nominal_load) * curve
        use = ca.sqrt(fx * fx + fy * fy + 1e-6) / (grip * friction * load)
        return fx, fy, use

    axle = AxleParameters(tyre=tyre, radius=0.3, coupling="open", rolling=0.013)
    return VehicleModel(
        name="racecar",
        body=LoadParameters(
            mass=1200.0, cg_height=0.38, wheelbase=3.0, cg_to_front=1.6, track_front=1.6, track_rear=1.6,
            roll_stiffness_front_share=0.5, roll_centre_front=0.0, roll_centre_rear=0.0,
            lift_front=0.45, lift_rear=0.75,
        ),
        yaw_inertia=1200.0, drag=0.75, front=axle, rear=axle, drive_front=0.0, brake_front=0.6,
        drive_limits=(lambda speed: 7000.0, lambda speed: 230e3 / speed),
        brake_limit=20e3, abs=False, top_speed=70.0, max_steer=0.35, width=2.0, grip_guess=0.9,
    )  # fmt: skip


def limebeer_car(file: Path) -> VehicleModel:
    """Return the Formula 1 car of a vehicle file of fastest-lap (model of Perantoni and Limebeer, 2014).

    The file's tyre has its peak at a combined slip of 0.75, and its problem bounds slip ratio and slip angle apart,
    at 1; here the combined slip is bounded at 1.3. As in our model, air drag does not pitch the car: the published
    loads say so, although the file puts the centre of pressure at the height of the centre of mass. The differential is
    viscous. The problem has a small cost on the changes of the controls, with weights of its own.
    """
    root = ElementTree.parse(file).getroot()

    def number(path: str) -> float:
        return float(root.findtext(path).strip())

    chassis, tyre_part = "chassis/", "front-tire/"
    mass, height = number(chassis + "mass"), -number(chassis + "com/z")
    front, rear = number(chassis + "front_axle/x"), -number(chassis + "rear_axle/x")
    half = 0.5 * number(chassis + "aerodynamics/rho") * number(chassis + "aerodynamics/area")
    drag, lift = half * number(chassis + "aerodynamics/cd"), half * number(chassis + "aerodynamics/cl")
    base, pressure = front + rear, number(chassis + "pressure_center/x")
    radius, power = number(tyre_part + "radius"), 1e3 * number("rear-axle/engine/maximum-power")
    loads = number(tyre_part + "reference-load-1"), number(tyre_part + "reference-load-2")

    def at_load(name: str, load):
        first, second = number(f"{tyre_part}{name}-1"), number(f"{tyre_part}{name}-2")
        return first + (second - first) * (load - loads[0]) / (loads[1] - loads[0])

    shape = number(tyre_part + "Qx")
    stretch = math.pi / (2.0 * math.atan(shape))

    def tyre(slip, tan_angle, load, grip):
        sx = slip / at_load("kappa-max", load)
        sy = tan_angle / (at_load("lambda-max", load) * math.pi / 180.0)
        slip_size = ca.sqrt(sx * sx + sy * sy + 1e-8)
        share = grip * load * ca.sin(shape * ca.atan(stretch * slip_size)) / slip_size
        return at_load("mu-x-max", load) * share * sx, -at_load("mu-y-max", load) * share * sy, slip_size / 1.3

    def axle(coupling: str, stiffness: float) -> AxleParameters:
        return AxleParameters(tyre=tyre, radius=radius, coupling=coupling, viscous=2.0 * stiffness / radius**2)

    return VehicleModel(
        name="limebeer-2014-f1",
        body=LoadParameters(
            mass=mass, cg_height=height, wheelbase=base, cg_to_front=front, track_front=number("front-axle/track"),
            track_rear=number("rear-axle/track"),
            roll_stiffness_front_share=number(chassis + "roll_balance_coefficient"),
            roll_centre_front=0.0, roll_centre_rear=0.0,
            lift_front=lift * (rear + pressure) / base, lift_rear=lift * (front - pressure) / base,
        ),
        yaw_inertia=number(chassis + "inertia/Izz"),
        drag=drag, front=axle("none", 0.0), rear=axle("viscous", number("rear-axle/differential_stiffness")),
        drive_front=0.0, brake_front=number(chassis + "brake_bias"), drive_limits=(lambda speed: power / speed,),
        brake_limit=2.0 * number("front-axle/brakes/max_torque") / radius, abs=False, top_speed=105.0,
        max_steer=math.radians(20.0), width=number("front-axle/track"), grip_guess=1.5,
    )  # fmt: skip


def limebeer_lap(folder: Path) -> tuple[Mesh, np.ndarray]:
    """Return the mesh of the published lap in `folder`, and its speeds (n,) m/s along the car.

    The published problem uses the trapezoidal rule on the same stages. Its y axis points to the right.
    """
    track = np.genfromtxt(folder / "limebeer2014_f1_catalunya_track.csv", delimiter=",", names=True)
    lap = np.genfromtxt(
        folder / "limebeer2014_f1_catalunya_solution.csv", delimiter=",", names=True, deletechars="", encoding="utf-8"
    )
    s = track["s_m"]
    parameters = np.zeros((len(StageParameter), len(s)))
    parameters[StageParameter.CURVATURE] = -track["curvature_1pm"]
    parameters[StageParameter.GRIP] = 1.0
    mesh = Mesh(
        s=s, steps=np.diff(np.append(s, LAP_LENGTH)), closed=True, parameters=parameters,
        left=track["w_left_m"] - HALF_TRACK, right=HALF_TRACK - track["w_right_m"],
    )  # fmt: skip
    return mesh, lap["chassis.velocity.x"]


def solve_limebeer_lap(folder: Path) -> tuple[MeshSolution, np.ndarray, float]:
    """Return our solution of the published lap in `folder`, its own speeds (n,) m/s and its lap time (s)."""
    car = limebeer_car(folder / "limebeer-2014-f1.xml")
    mesh, speeds = limebeer_lap(folder)
    x = scale_unknowns(guess_motion(car, mesh, np.zeros(len(mesh.s))))
    finest = LEVELS[-1]._replace(rounding=Rounding(pedal=0.003, load=0.005, lock_speed=1.0, abs_sharpness=5.0))
    for level in (*LEVELS[:-1], finest):
        solution = solve_mesh(car, mesh, level, x)
        x = solution.x
    return solution, speeds, PUBLISHED_TIME
