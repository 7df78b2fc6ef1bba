"""`LinkRace`: one learner that drives through a simulator's wire, with the interface of a `RaceBatch` of one car.

Actions and states pass through the bytes of the real transport, as in `trailbrake drive`. Observations, rewards and
ends are computed from `CarState` only.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from trailbrake.arrays import Array, Ints, Rows
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.parts.road_return import RoadReturn
from trailbrake.driving.loop.drive_loop import STOPPING_LIMIT
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import Pace, make_spec
from trailbrake.driving.supervised.supervised_car import open_car
from trailbrake.env.batch import make_generator
from trailbrake.env.domain_randomisation import StartSampler, Vary
from trailbrake.env.map_frames import CarPlace
from trailbrake.env.options import RANDOM, RaceOptions, fit_substeps
from trailbrake.env.race_pictures import RaceView
from trailbrake.errors import CarStuckError, SimulatorError, UsageError
from trailbrake.observe.actions import ActionClipper
from trailbrake.observe.features import Feature
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.planning.course import tabulate_plan
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls, Pose, SimCommand
from trailbrake.tracks.random_circuit import generate_circuit
from trailbrake.tracks.track_library import load_track

_REPAIR_S = 0.1  # s that the pits take to repair a car
_SETTLE_S = 1.0  # s that a teleport may take
_PLACED_DISTANCE = 3.0  # m; a teleport has succeeded when the car is nearer to its target than this
_PLACED_SPEED = 1.0  # m/s; and slower than this


class LinkRace:
    """One learner that drives through a wire; a `LearnerBatch`.

    Args:
        options: of the environment. It has one car; nothing varies; the car starts at rest; `substeps` are the
            simulator's business.
        sim: name of the simulator.
        live: whether to drive the game itself, or a served world; otherwise an embedded world in lockstep.
        seed: of the start places.
        signals: names of docs/signals.md, or patterns as `beamng.wheel_*`, for `signal_values`.
        pace: who sets the pace of a live simulator, as `drive --pace`.
        camera: pictures in `state.image` for a wire that has none, as `drive --camera` takes it.
        live_options: values of the simulator's live options by name, as `{"pad": "uinput"}`.
        brakes_at_end: whether `close` stops the car of a live simulator before it gives it back.

    Attributes:
        options: of the environment.
        task: what the learner observes, its rewards, the ends of episodes, and the actions.
        n: 1.
        has_signals: whether signals are selected.

    Raises:
        UsageError: options that no wire can provide.
    """

    def __init__(
        self,
        options: RaceOptions | None = None,
        *,
        sim: str = "assetto",
        live: bool = False,
        seed: int | None = None,
        signals: Sequence[str] = (),
        pace: Pace = "simulator",
        camera: str = "",
        live_options: Mapping[str, object] | None = None,
        brakes_at_end: bool = True,
    ) -> None:
        options = options or RaceOptions()
        self.options = options = replace(options, substeps=fit_substeps(options.period))
        self.task = options.build_task()
        self.n = 1
        if options.cars != 1 or options.rivals:
            raise UsageError("one car only through a wire", where="cars", expected="1", got=str(options.cars))
        if options.vary != Vary():
            raise UsageError(
                "nothing varies through a wire", where="vary", expected="the defaults", got=repr(options.vary)
            )
        if not isinstance(options.track, str):
            raise UsageError("one track only through a wire", where="track", expected="a name", got=repr(options.track))
        if not isinstance(options.car, str):
            raise UsageError("one car only through a wire", where="car", expected="a name", got=repr(options.car))
        simulator = registry.find(sim)
        self._rng = make_generator(seed)
        name = f"gen:{int(self._rng.integers(2**31))}" if options.track == RANDOM else options.track
        track = generate_circuit(int(name[4:])) if options.track == RANDOM else load_track(name)
        self.tracks = [track]
        supplies = simulator.supplies
        _check_judging(self.task, simulator.title, supplies)
        self._course = options.plan_course(track, load_car(options.car))
        plan = tabulate_plan(self._course) if self.task.needs_plan else None
        self._observer = StateObserver(self.task, track.road, load_car(options.car), supplies, plan)
        self._start_sampler = StartSampler(track.road, options.start)
        place = {} if live else {"track": name, "car": options.car}
        spec = make_spec(sim=sim, live=live, options=dict(live_options or {}), camera=camera, pace=pace,
                         signals=tuple(signals), **place)  # fmt: skip
        self._brakes_at_end = brakes_at_end
        self._setup = make_setup(simulator, spec)
        self.has_signals = bool(self._setup.signals)
        self._teleports = "teleport" in simulator.accepts
        self._repairs = self._teleports and "to_pits" in simulator.accepts
        self._restarts = "restart" in simulator.accepts
        self._clipper = ActionClipper(self.task.action) if options.clip_actions else None
        self._open: ExitStack | None = None
        self._state = CarState()
        self._held = Controls()  # repeated for each sample within a step: some simulators wait for an answer to each

    @property
    def signal_values(self) -> dict[str, float]:
        """The selected signals of the newest sample, by name."""
        values = self._state.signals
        return {name: values[name] for name in values}

    def view_race(self) -> RaceView:
        """Return the road, the time and the car, for pictures."""
        state = self._state
        car = CarPlace(state.x, state.y, state.yaw, state.speed)
        return RaceView(self.tracks[0], state.time, [car])

    @property
    def state(self) -> CarState:
        """The newest state; with a camera its `image` is the newest picture."""
        return self._state

    def reset(self, seed: int | Sequence[int] | None = None) -> Rows:
        """Put the car on a start place, at rest; return the observation (1, width). The first call connects.

        Where the simulator has no command for that, an embedded world begins again at the start line. A live episode
        begins where the car comes to a standstill; a car beside the road, or backwards on it, is driven back first.

        Raises:
            SimulatorError: the simulator does not place the car, or the car has left the road and does not get back.
        """
        if seed is not None:
            self._rng = make_generator(seed)
        if self._open is None:
            self._open = ExitStack()
            car = open_car(self._setup, brakes_at_end=self._brakes_at_end)
            self._connection = self._open.enter_context(car)
        self._observer.reset()
        link = self._connection
        link.write(self._observer.decode_action(np.zeros(self.task.action.width)))
        self._observer.reset()
        x, y, _, yaw = self.tracks[0].road.points(0.0)[0].tolist()
        self._held = Controls(brake=1.0)
        if self._repairs:
            # Not a restart: in a game that may open a menu that no command can close.
            link.send_command(SimCommand(to_pits=True))
            for _ in range(math.ceil(_REPAIR_S / link.period)):
                self._wait_for_sample()
        plant = self._connection.plant
        if self._teleports:
            if self.options.start.anywhere:
                x, y, yaw, _ = self._start_sampler.sample_grids(self._rng, 1, 1)[0].tolist()
            link.send_command(SimCommand(teleport=Pose(x, y, self._road_height(x, y), yaw)))
        elif self._restarts:
            link.send_command(SimCommand(restart=True))
        elif plant is not None:  # what a person does in the game
            plant.execute_command(0, SimCommand(restart=True))
        else:
            self._stop_car()
            return self._observer.observe(self._state)[None]
        for _ in range(math.ceil(_SETTLE_S / link.period)):
            self._wait_for_sample()
            if (
                math.hypot(self._state.x - x, self._state.y - y) < _PLACED_DISTANCE
                and self._state.speed < _PLACED_SPEED
            ):
                return self._observer.observe(self._state)[None]
            link.write(self._held)
        raise SimulatorError("the simulator did not teleport the car", where=self._setup.simulator.name)

    def step(self, actions: ArrayLike) -> tuple[Rows, Array, Ints]:
        """Make one step as `RaceBatch.step` does, of about `options.period`: a whole number of samples."""
        values = np.asarray(actions, np.float64)
        if values.shape != (1, self.task.action.width):
            expected = f"(1, {self.task.action.width})"
            raise UsageError(
                "actions do not fit the learners", where="action", expected=expected, got=f"{values.shape}"
            )
        out: Rows = np.empty((1, self.task.width), np.float32)
        reward, ended = np.empty(1), np.empty(1, np.int64)
        self.write_step(values, out, reward, ended)
        return out, reward, ended

    def write_step(self, values: Array, out: Rows, reward: Array, ended: Ints) -> None:
        """Make one step as `RaceBatch.write_step` does, into the caller's arrays."""
        if self._open is None:
            raise UsageError("not begun", where="step", hint="call reset() first")
        link = self._connection
        if self._clipper is not None:
            values = self._clipper.clip_actions(values)
        self._held = self._observer.decode_action(values[0])
        link.write(self._held)
        until = self._state.time + self.options.period - 0.5 * link.period
        began = self._state.time
        while began <= self._wait_for_sample() < until:
            link.write(self._held, repeats=True)
        out[0] = self._observer.observe(self._state)
        reward[0], ended[0] = self._observer.compute_reward(self.options.limit - 0.5 * self.options.period)

    def restart(self, learners: Ints, out: Rows) -> None:
        """Restart the episode; write `out` (1, width)."""
        if len(learners):
            out[:] = self.reset()

    def feature_values(self, feature: Feature) -> Array:
        """Return a feature of the learner, (1,)."""
        return np.array([self._observer.feature_value(feature)])

    def end_name(self, code: int) -> str:
        """Return the name of an end by its code from `step`; "" for 0, "limit" for -1."""
        return "" if code == 0 else "limit" if code < 0 else self.task.ends[code - 1].name

    def close(self) -> None:
        """Stop the car of a live simulator, and close the link."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _stop_car(self) -> None:
        # Bring the car back onto the road where it has left it, and brake to a standstill; SimulatorError if both fail.
        link = self._connection
        road_return, last = RoadReturn(self._course), math.nan
        began = self._wait_for_sample()
        while self._state.time - began < STOPPING_LIMIT:
            state = self._state
            try:
                rescue = road_return.rescue(state, 0.0 if math.isnan(last) else max(state.time - last, 0.0))
            except CarStuckError as error:
                raise SimulatorError(str(error), where=self._setup.simulator.name) from error
            last = state.time
            if rescue is not None:
                rescue.command = None  # this simulator has none that puts the car back
                began = last  # it ends by itself
            elif state.speed <= _PLACED_SPEED:
                return
            link.write(rescue or self._held)
            self._wait_for_sample()

    def _wait_for_sample(self) -> float:
        # Wait for the next sample; return its time.
        self._state = self._connection.wait_for_state()
        return self._state.time

    def _road_height(self, x: float, y: float) -> float:
        road = self.tracks[0].road
        s, offset, _ = road.locate(x, y)
        return road.point(s, offset)[2]


def _check_judging(task: TaskSpec, title: str, supplies: frozenset[str]) -> None:
    # UsageError that names the rewards and ends which the simulator's states cannot decide.
    for where, rules in (("rewards", task.rewards), ("ends", task.ends)):
        undecided = {rule.name: sorted(rule.needs - supplies) for rule in rules if rule.needs - supplies}
        if undecided:
            fit = [rule.name for rule in rules if not rule.needs - supplies]
            raise UsageError(
                f"{title} does not supply what these need", where=where,
                got="; ".join(f"{name} needs {', '.join(missing)}" for name, missing in undecided.items()),
                hint=f"choose others, as {where}={tuple(fit)!r}" if fit else "choose others",
            )  # fmt: skip
