"""The kernels of a graphics card between cars and learners, compiled from those of the processor.

A thread works on a car, or on a world. numba.cuda takes only tuples of arrays from the processor; here they become the
NamedTuples of the kernels. A kernel that takes `chosen`, (n,) uint8, works on the cars where it is not 0.
"""

from functools import cache
from typing import Any

import numba.cuda

from trailbrake.env import road_worlds, step_kernels
from trailbrake.env.restart_kernels import EpisodeArrays, StartRoom, StartRules, restart_world
from trailbrake.env.step_kernels import ActionQueue, LearnerArrays, ObservationNoise
from trailbrake.kernels.cuda_compiler import CudaCompiler
from trailbrake.observe.observation_kernels import NearestCars, TaskTables, write_nearest_cars
from trailbrake.observe.plan_preview import PlanPreview, write_line_preview, write_plan_preview
from trailbrake.observe.road_preview import EdgesPreview, write_edges
from trailbrake.tracks.ray_grid import CellLists, SegmentGrid, cast_ray
from trailbrake.tracks.road import RoadPlan
from trailbrake.tracks.walls import Walls
from trailbrake.world.car_scaling import ScalingLaws
from trailbrake.world.cuda_kernels import select_road
from trailbrake.world.kernel_arguments import CarBlocks
from trailbrake.world.range_scanner import CarBoxes, scan_cars
from trailbrake.world.wall_rays import BeamFan

cuda: Any = numba.cuda


@cuda.jit(device=True)  # type: ignore[untyped-decorator]
def bundle_cars(arrays: Any) -> Any:
    """Return the arrays of `CudaBatch.arrays` as the kernels of cars take them."""
    cars, params, kinds, maps = arrays
    return CarBlocks(cars, params, kinds, maps, cars.shape[0], 0.0)


class RaceKernels:
    """The kernels of one precision, compiled at their first launch.

    Args:
        single: whether numbers are float32; otherwise float64.

    Attributes:
        act: checks and applies the actions, a learner to a thread.
        drive: lets the rivals drive.
        observe: observes all cars after a step, with rewards and ends.
        observe_placed: observes cars that were placed.
        write_edges, write_nearest, write_plan, write_line, scan: write a part of an observation.
        add_noise: adds noise to observations.
        restart: restarts the episodes that have ended, a world to a thread.
    """

    def __init__(self, *, single: bool) -> None:
        self._compiler = CudaCompiler(single=single)
        self.act, self.drive = self._define_act(), self._define_drive()
        self.observe, self.observe_placed = self._define_observe(), self._define_observe_placed()
        self.write_edges, self.write_nearest = self._define_edges(), self._define_nearest()
        self.write_plan = self._define_plan(write_plan_preview)
        self.write_line = self._define_plan(write_line_preview)
        # Rays through the grid of walls in double precision: in single precision one may stand still before a cell.
        exact = CudaCompiler(single=False).compile_kernel(cast_ray)
        self.scan = self._define_scan(CudaCompiler(single=single, replacements={cast_ray: exact}))
        self.add_noise = self._define_noise()
        self.restart = self._define_restart()

    def _define_act(self) -> Any:
        is_valid, apply = map(self._compiler.compile_kernel, (step_kernels.is_valid_action, step_kernels.apply_action))

        @cuda.jit  # type: ignore[untyped-decorator]
        def act(arrays: Any, features: Any, actions: Any, queue: Any, clock: Any) -> None:
            codes, history, delays, stride = queue
            k = cuda.grid(1)
            if k < actions.shape[0]:
                if is_valid(codes, actions, k):
                    slot = clock[0] % history.shape[0]
                    apply(bundle_cars(arrays), features, actions, ActionQueue(codes, history, delays, stride), slot, k)
                else:
                    clock[1] = k + 1

        return act

    def _define_drive(self) -> Any:
        drive_rival = self._compiler.compile_kernel(road_worlds.drive_rival)

        @cuda.jit  # type: ignore[untyped-decorator]
        def drive(arrays: Any, features: Any, roads: Any, group_size: Any) -> None:
            car = cuda.grid(1)
            if car < arrays[0].shape[0]:
                drive_rival(bundle_cars(arrays), features, select_road(roads, car), group_size, car)

        return drive

    def _define_observe(self) -> Any:
        observe_and_reward = self._compiler.compile_kernel(step_kernels.observe_and_reward)

        @cuda.jit  # type: ignore[untyped-decorator]
        def observe(arrays: Any, roads: Any, task: Any, out: Any, clock: Any) -> None:
            codes, values, feature_count, reward_count, time_limit, remembers, period = task
            features, observations, rewards, ends = out
            car = cuda.grid(1)
            if car < arrays[0].shape[0]:
                if car == 0:
                    clock[0] += 1
                tables = TaskTables(codes, values, feature_count, reward_count, time_limit, remembers)
                learners = LearnerArrays(features, observations, rewards, ends)
                road = select_road(roads, car)
                observe_and_reward(bundle_cars(arrays), road, tables, period, learners, car, car + 1)

        return observe

    def _define_observe_placed(self) -> Any:
        observe_car = self._compiler.compile_kernel(step_kernels.observe_car)

        @cuda.jit  # type: ignore[untyped-decorator]
        def observe_placed(arrays: Any, roads: Any, task: Any, out: Any, chosen: Any) -> None:
            codes, values, feature_count, reward_count, time_limit, remembers, _ = task
            features, observations = out[0], out[1]
            car = cuda.grid(1)
            if car < chosen.shape[0] and chosen[car]:
                tables = TaskTables(codes, values, feature_count, reward_count, time_limit, remembers)
                observe_car(bundle_cars(arrays), features, select_road(roads, car), tables, observations, car)

        return observe_placed

    def _define_edges(self) -> Any:
        write = self._compiler.compile_kernel(write_edges)

        @cuda.jit  # type: ignore[untyped-decorator]
        def write_edges_of(features: Any, roads: Any, part: Any, out: Any, chosen: Any) -> None:
            ahead, scale, first, bound = part
            car = cuda.grid(1)
            if car < chosen.shape[0] and chosen[car]:
                write(features, EdgesPreview(select_road(roads, car), ahead, scale, first, bound), out, car, car + 1)

        return write_edges_of

    def _define_nearest(self) -> Any:
        write = self._compiler.compile_kernel(write_nearest_cars)

        @cuda.jit  # type: ignore[untyped-decorator]
        def write_nearest_of(features: Any, part: Any, out: Any, chosen: Any) -> None:
            group_size, count, reach, first = part
            car = cuda.grid(1)
            if car < chosen.shape[0] and chosen[car]:
                write(features, NearestCars(group_size, count, reach, first), out, car, car + 1)

        return write_nearest_of

    def _define_plan(self, kernel: Any) -> Any:
        write = self._compiler.compile_kernel(kernel)

        @cuda.jit  # type: ignore[untyped-decorator]
        def write_plan_of(features: Any, roads: Any, part: Any, out: Any, chosen: Any) -> None:
            plans, ahead, first, bound = part
            offsets, headings, curvatures, speeds, starts, plans_of_cars = plans
            car = cuda.grid(1)
            if car < chosen.shape[0] and chosen[car]:
                k = plans_of_cars[car]
                lo, hi = starts[k], starts[k + 1]
                plan = RoadPlan(offsets[lo:hi], headings[lo:hi], curvatures[lo:hi], speeds[lo:hi])
                write(features, PlanPreview(select_road(roads, car), plan, ahead, first, bound), out, car, car + 1)

        return write_plan_of

    def _define_scan(self, compiler: CudaCompiler) -> Any:
        scan = compiler.compile_kernel(scan_cars)

        @cuda.jit  # type: ignore[untyped-decorator]
        def scan_part(features: Any, roads: Any, part: Any, out: Any, chosen: Any) -> None:
            walls, fan, mount, boxes, group_size, column, beams = part
            sections, links, segments, frames, free, starts, items, quad_starts, quad_items, places = walls
            cosine, sine, first, step, limit = fan
            car = cuda.grid(1)
            if car < chosen.shape[0] and chosen[car]:
                k = roads[4][car]
                a, b = places[k], places[k + 1]
                grid = SegmentGrid(
                    segments[a[1] : b[1]], frames[k], free[k, : a[6], : a[7]], starts[a[2] : b[2]], items[a[3] : b[3]]
                )
                quads = CellLists(quad_starts[a[4] : b[4]], quad_items[a[5] : b[5]])
                own = Walls(sections[a[0] : b[0]], links[a[0] : b[0]], grid, quads)
                cars = CarBoxes(features[0:3].T, boxes, group_size)
                ranges = out[:, column : column + beams]
                scan(own, BeamFan(cosine, sine, first, step, limit), mount, cars, ranges, car, car + 1)
                for i in range(ranges.shape[1]):
                    ranges[car, i] /= limit

        return scan_part

    def _define_noise(self) -> Any:
        add = self._compiler.compile_kernel(step_kernels.add_car_noise)

        @cuda.jit  # type: ignore[untyped-decorator]
        def add_noise(out: Any, noise: Any, clock: Any, chosen: Any) -> None:
            levels, low, high, seed = noise
            car = cuda.grid(1)
            if car < chosen.shape[0] and chosen[car]:
                add(out, ObservationNoise(levels, low, high, seed[0]), clock[0], car)

        return add_noise

    def _define_restart(self) -> Any:
        restart = self._compiler.compile_kernel(restart_world)

        @cuda.jit  # type: ignore[untyped-decorator]
        def restart_worlds(arrays: Any, roads: Any, starts: Any, episodes: Any, out: Any) -> None:
            # free, fastest and positions by road; laws by car
            (free, fastest, positions, speed, ranges, rows, laws, law_starts, models, numbers) = starts
            offset, heading, gap, anywhere, whole, group_size, delay_count = numbers
            ends, placed, counts, seed, features, history, delays, levels = episodes
            observations, final = out
            world = cuda.grid(1)
            if world * group_size < ends.shape[0]:
                first = world * group_size
                k, m = roads[4][first], models[first]
                lo, hi = roads[2][k], roads[2][k + 1]
                room = StartRoom(free[lo:hi], fastest[lo:hi], offset, heading)
                scaling = ScalingLaws(rows[law_starts[m] : law_starts[m + 1]], laws[law_starts[m] : law_starts[m + 1]])
                rules = StartRules(
                    room, positions[k], speed, gap, anywhere, whole, group_size, ranges, delay_count, scaling
                )
                own = EpisodeArrays(ends, placed, counts, seed, features, history, delays, levels)
                restart(bundle_cars(arrays), select_road(roads, first), rules, own, world)
                for car in range(first, first + group_size):
                    if placed[car]:
                        for i in range(final.shape[1]):
                            final[car, i] = observations[car, i]

        return restart_worlds


@cache
def get_race_kernels(*, single: bool) -> RaceKernels:
    """Return the kernels of one precision; environments share them."""
    return RaceKernels(single=single)
