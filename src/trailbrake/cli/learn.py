"""`learn`: a road, a car, or both, from driving them."""

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import App, Parameter

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.output import JsonFlag, OpenFlag, answer, open_page, print_json, print_table
from trailbrake.cli.terminal_progress import TerminalProgress
from trailbrake.learning.options import LearnCarOptions, LearnOptions
from trailbrake.simulator import AnySimulator
from trailbrake.units import NORMAL_95


def build_learn_app(simulator: AnySimulator) -> App:
    """Return the verb with its parts and the live flags of `simulator`."""
    made = App(name="learn", help="Learn a road and a car without a description, by driving them.")

    def learn(*, options: Any = None, live_doors: Any = None, open: OpenFlag = False, json: JsonFlag = False) -> None:
        open_page(_learn_both(simulator, options or LearnOptions(), live_doors, json=json), open)

    def track(*, options: Any = None, live_doors: Any = None, json: JsonFlag = False) -> None:
        _learn_track(simulator, options or LearnOptions(), live_doors, json=json)

    def car(*, options: Any = None, live_doors: Any = None, open: OpenFlag = False, json: JsonFlag = False) -> None:
        open_page(_learn_car(simulator, options or LearnCarOptions(), live_doors, json=json), open)

    learn.__doc__ = "Map a road, by driving or from recordings, learn the car on it, and drive laps with both."
    track.__doc__ = "Map a road by driving it slowly, and write a track file that `drive --track FILE` takes."
    car.__doc__ = "Learn a car by a test drive or from recordings, and write a car file that `drive --car FILE` takes."
    _annotate(learn, simulator, LearnOptions)
    _annotate(track, simulator, LearnOptions)
    _annotate(car, simulator, LearnCarOptions)
    made.default(learn)
    made.command(track, name="track")
    made.command(car, name="car")
    return made


def _annotate(verb: Callable[..., None], simulator: AnySimulator, options: type) -> None:
    verb.__annotations__["options"] = Annotated[options | None, Parameter(name="*")]
    verb.__annotations__["live_doors"] = Annotated[simulator.live_options | None, Parameter(name="*")]


def _announce(show: TerminalProgress, options: LearnOptions | LearnCarOptions, files: str) -> None:
    """Say what will be driven and written, before a long drive."""
    options = options.with_defaults()
    what = "the car of the game" if options.live else f"{options.car} on {options.track}"
    show.show_message(f"drives {what} through the wire of {options.sim}, which takes minutes, and writes {files}; "
                      "Ctrl-C stops, and the same line goes on")  # fmt: skip


def _learn_track(simulator: AnySimulator, options: LearnOptions, live: object, *, json: bool) -> None:
    from trailbrake.learning.road_mapping import check_mapping, map_path, map_road

    with TerminalProgress("mapping", wanted=not json) as show:
        check_mapping(simulator, options, live)
        if not options.is_drawn:
            _announce(show, options, f"{map_path(options.with_defaults()).resolve()}")
        result = map_road(simulator, options, live, show)
    answer(result, _print_track, json=json)


def _learn_car(simulator: AnySimulator, options: LearnCarOptions, live: object, *, json: bool) -> str:
    from trailbrake.learning.car_learning import car_file_path, check_options, learn_car_file

    with TerminalProgress("learning the car", wanted=not json) as show:
        check_options(options)
        if not options.source:
            _announce(show, options, f"{car_file_path(options.with_defaults()).resolve()} and its .html")
        result = learn_car_file(simulator, options.with_defaults(), live, show)
    answer(result, _print_car, json=json)
    return str(result["report"])


def _learn_both(simulator: AnySimulator, options: LearnOptions, live: object, *, json: bool) -> str:
    from trailbrake.learning.road_mapping import check_mapping, learn_road_and_car, map_path

    with TerminalProgress("learning", wanted=not json) as show:
        check_mapping(simulator, options, live)
        if options.names_drive or not options.is_drawn:
            drawn_from = options.left_edge or next(iter(options.source), None)
            files = map_path(options.with_defaults(), drawn_from).resolve()
            _announce(show, options, f"{files} and the car's .toml and .html beside it")
        result = learn_road_and_car(simulator, options, live, show)
    car = result.get("learned_car", {})
    if json:
        print_json(result)
        return str(car.get("report", ""))
    _print_track(result)
    if car:
        _print_car(car)
    if result.get("laps"):
        _print_laps(result["laps"])
    return str(car.get("report", ""))


def _print_track(result: dict[str, Any]) -> None:
    known = f"{100.0 * result['width_known']:.0f} % of its width supplied by the wire"
    kind = "circuit" if result["closed"] else "open road"
    print(f"{kind}, {result['length_m']:.0f} m long, {result['width_m']:.2f} m wide, {known}\ntrack {result['track']}")


def _print_laps(laps: dict[str, Any]) -> None:
    times = ", ".join(f"{format_lap_time(lap['time_s'])}{'' if lap['valid'] else ' (invalid)'}" for lap in laps["laps"])
    print(f"laps {times or 'none'}: {laps['ended']}\nmemory {laps['memory']}")


def _print_car(result: dict[str, Any]) -> None:
    rows = [
        [key, f"{v['value']:.5g}", f"{NORMAL_95 * v['sigma']:.2g}", v["source"], v["note"]]
        for key, v in result["values"].items()
    ]
    print_table("Learned", ["number", "value", "95 % within", "", "from"], rows)
    for text in result["missing"]:
        print(f"not learned: {text}")
    for drive in (result["verification"] or {}).get("drives", ()):
        print(f"verification: {drive['seconds']:.0f} s, {drive['outcome']}")
    print(f"{result['headline']}\n{result['driven_s']:.0f} s of driving, class {result['class']}")
    print(f"car {result['car']}\nreport {result['report']}")
