"""The options of `train rl`; the command line makes its flags from these. And the environment that they declare."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trailbrake.errors import UsageError, suggest_names
from trailbrake.name_lists import expand_names, split_names
from trailbrake.observe.features import Feature
from trailbrake.observe.rewards import End, Reward

if TYPE_CHECKING:  # the command line reads the flags from here: `--help` loads no numbers and no kernels
    from trailbrake.env.options import RaceOptions
    from trailbrake.observe.actions import CommandLimits

Range = tuple[float, float]
DEVICES = ("cpu", "cuda", "auto")
TARGET_DIVERGENCE = 0.012  # of a policy from the one before, in an update
PROGRESS_WEIGHT = 0.02  # reward for a metre along the centreline
# For each wheel beside the road, kerbs included, in a step: a warning before the third ends the episode. Two wheels
# cost a fifth of the progress at 40 m/s; where they cost half of it, no kerb is worth its use.
WHEELS_OFF_WEIGHT = -0.004


@dataclass(frozen=True, kw_only=True)
class RlOptions:
    """A policy to learn by driving in the embedded world.

    Attributes:
        out: folder of the run: policy.npz (the best one), checkpoint.npz, progress.jsonl.
        track: tracks to learn on, with commas; gen:A-B are the seeds A to B.
        car: cars to learn with, with commas; random:A-B are the seeds A to B; the k-th track has the k-th car, in turn.
            The judged tracks have them in turn, too.
        held_out: tracks to judge policies by; default: those learned on.
        roads: tracks driven at once in an iteration; 0 = all.
        divergence: of the policy in an update, which the learning rate aims at.
        minutes: of wall time at most.
        iterations: at most, from the first start; 0 = no limit.
        cars: that drive at once.
        horizon: s that each drives in an iteration.
        episode: s after which a car on a graphics card starts again elsewhere.
        period: s from one command to the next.
        observe: parts of the observation, with commas.
        plan_car: car of the library whose plan every car observes: for a policy that drives cars without a file;
            default: each car's own.
        kerbs: the observed line uses the kerbs.
        hidden: units of each of two hidden layers.
        grip: least and greatest factor on tyre friction, per episode.
        stiffness: the same on the tyres' slip stiffness.
        mass: the same on the car's mass.
        delay: most periods by which commands lag, per episode.
        noise: greatest standard deviation of noise on the observation, scaled.
        steer_rate: 1/s, greatest change of the steer; full lock is 1.
        pedal_rate: 1/s, greatest change of the pedal, -1 to 1.
        start_speed: m/s, greatest speed at an episode's start; less before bends.
        crash_penalty: what leaving the road or touching a wall costs; 1 is the reward for 50 m.
        evaluate_every: iterations between evaluations.
        laps: of each car in an evaluation.
        seed: of everything random.
        threads: for the world and PyTorch, in each worker.
        workers: processes that share the cars and average what they learn, which changes the result; with --device cuda
            each has a card, in turn.
        on: where processes run: this machine; ray = this machine's Ray cluster or a new one; ray://HOST:PORT = another:
            docs/scale.md.
        device: cpu; cuda = world and learning on a graphics card; auto = cuda if possible.
        resume: go on from the checkpoint in the folder.
    """

    out: Path = Path("rl")
    track: str = "pinegrove"
    car: str = "gt3"
    held_out: str = ""
    roads: int = 0
    divergence: float = TARGET_DIVERGENCE
    minutes: float = 60.0
    iterations: int = 0
    cars: int = 256
    horizon: float = 12.0
    episode: float = 12.0
    period: float = 0.048
    observe: str = "motion,lane,asked,plan"
    plan_car: str = ""
    kerbs: bool = True
    hidden: int = 64
    grip: Range = (0.98, 1.02)
    stiffness: Range = (1.0, 1.0)
    mass: Range = (0.98, 1.02)
    delay: int = 0
    noise: float = 0.0
    steer_rate: float = 2.5
    pedal_rate: float = 10.0
    start_speed: float = 80.0
    crash_penalty: float = 1.0
    evaluate_every: int = 20
    laps: int = 2
    seed: int = 0
    threads: int = 1
    workers: int = 1
    on: str = ""
    device: str = "cpu"
    resume: bool = False

    @property
    def steps(self) -> int:
        """Steps of each car in an iteration."""
        return max(round(self.horizon / self.period), 1)

    @property
    def observed_parts(self) -> tuple[str, ...]:
        """Names of the parts of the observation."""
        return split_names(self.observe)

    @property
    def command_limits(self) -> "CommandLimits":
        """The limits of commands."""
        from trailbrake.observe.actions import CommandLimits

        return CommandLimits(period=self.period, steer_rate=self.steer_rate, pedal_rate=self.pedal_rate)

    @property
    def tracks(self) -> tuple[str, ...]:
        """Names of the tracks to learn on."""
        return tuple(expand_names(self.track, "--track"))

    @property
    def learned_cars(self) -> tuple[str, ...]:
        """Names of the cars to learn with."""
        return tuple(expand_names(self.car, "--car"))

    @property
    def road_groups(self) -> list[tuple[tuple[str, str], ...]]:
        """Groups of pairs of a track and its car, of which one is driven at a time; each pair is in one of them.

        All have the same size: in place of those that the last one lacks it has some of the first.
        """
        tracks, cars = self.tracks, self.learned_cars
        pairs = [(tracks[k % len(tracks)], cars[k % len(cars)]) for k in range(max(len(tracks), len(cars)))]
        size = min(max(self.roads, 0) or len(pairs), len(pairs))
        first = range(0, len(pairs), size)
        return [tuple(pairs[(start + k) % len(pairs)] for k in range(size)) for start in first]

    @property
    def judged_tracks(self) -> tuple[str, ...]:
        """Names of the tracks to judge by."""
        return tuple(expand_names(self.held_out, "--held-out")) if self.held_out else self.tracks


def check_options(options: RlOptions) -> None:
    """Check the options that no other part checks; UsageError names the one that is wrong."""
    if options.device not in DEVICES:
        raise UsageError("no such device", where="--device", expected=" or ".join(DEVICES), got=options.device,
                         hint=suggest_names(options.device, list(DEVICES)))  # fmt: skip
    from trailbrake.cars.car_library import car_names

    if options.plan_car not in ("", *car_names()):
        raise UsageError("no such car in the library", where="--plan-car", got=options.plan_car,
                         hint=suggest_names(options.plan_car, car_names()))  # fmt: skip
    roads = len(options.road_groups[0])
    _ = options.command_limits  # checks period and rates
    for name, good, expected in (
        ("minutes", options.minutes > 0.0, "more than 0"),
        ("iterations", options.iterations >= 0, "0 or more"),
        ("roads", options.roads >= 0, "0 or more"),
        ("workers", options.workers >= 1, "1 or more"),
        (
            "cars",
            options.cars >= roads * options.workers,
            f"{roads * options.workers} or more, one for each track and car; --roads drives some of them at a time",
        ),
        ("cars", options.cars % options.workers == 0, f"as many for each of {options.workers} workers"),
        ("on", options.workers > 1 or not options.on, "--workers above 1 with it"),
        ("device", options.device != "cuda" or not options.on, "cpu with --on"),
        ("horizon", math.isfinite(options.horizon) and options.horizon >= options.period, "a period or more"),
        ("episode", math.isfinite(options.episode) and options.episode > 0.0, "more than 0"),
        ("divergence", 0.0 < options.divergence <= 1.0, "more than 0, 1 at most"),
        ("hidden", 1 <= options.hidden <= 1024, "1 .. 1024"),
        ("crash-penalty", 0.0 <= options.crash_penalty <= 1000.0, "0 .. 1000"),
        ("evaluate-every", options.evaluate_every >= 1, "1 or more"),
        ("laps", 2 <= options.laps <= 1000, "2 .. 1000: the first begins slowly"),
        ("seed", options.seed >= 0, "0 or more"),
        ("threads", options.threads >= 1, "1 or more"),
    ):
        if not good:
            got = str(getattr(options, name.replace("-", "_")))
            raise UsageError("cannot train so", where=f"--{name}", expected=expected, got=got)


def race_options(options: RlOptions, group: int = 0, *, evaluation: bool = False) -> "RaceOptions":
    """Return the environment of a training, or of the evaluations in between.

    Reward is progress along the road, as in Fuchs et al., "Super-human performance in Gran Turismo Sport using deep
    reinforcement learning", IEEE Robotics and Automation Letters 6:3 (2021). More than two wheels beside the
    road, which makes a lap invalid, end an episode, as does a contact.

    Args:
        options: of the training.
        group: which of `options.road_groups` is driven.
        evaluation: cars as they are in their file, without delay or noise, on the tracks to judge by.
    """
    from trailbrake.drivers.loading.race_policy import ACTION
    from trailbrake.env.domain_randomisation import Start, Vary
    from trailbrake.env.options import RaceOptions, fit_substeps

    tracks, cars = zip(*options.road_groups[group], strict=True)
    learned, judged = options.learned_cars, options.judged_tracks
    return RaceOptions(
        track=judged if evaluation else tracks,
        car=tuple(learned[k % len(learned)] for k in range(len(judged))) if evaluation else cars,
        period=options.period,
        substeps=fit_substeps(options.period),
        observe=options.observed_parts,
        rewards=(
            Reward("progress", "for each metre along the centreline", Feature.PROGRESS, PROGRESS_WEIGHT),
            Reward("calm", "penalty for the squared change of steer", Feature.STEER_CHANGE, -0.05),
            Reward("edge", "penalty for each wheel beside the road", Feature.WHEELS_OFF, WHEELS_OFF_WEIGHT),
        ),
        ends=(
            End("off_track", "more than two wheels off the road", Feature.WHEELS_OFF, 2.5, -options.crash_penalty),
            End("contact", "a wall was touched", Feature.NEW_CONTACTS, 0.5, -options.crash_penalty),
            End("backward", "pointing backwards", Feature.BACKWARD_TIME, 0.5, -options.crash_penalty),
            End("slow", "slower than 1 m/s", Feature.SLOW_TIME, 3.0, -options.crash_penalty),
        ),
        action=ACTION,
        limit=math.inf,
        start=Start(offset=0.6, heading=0.1, speed=(0.0, options.start_speed)),
        vary=Vary() if evaluation else Vary(
            mass=options.mass, grip=options.grip, stiffness=options.stiffness, delay=options.delay,
            noise=(0.0, options.noise),
        ),
        plan_on_kerbs=options.kerbs,
        plan_car=options.plan_car,
    )  # fmt: skip
