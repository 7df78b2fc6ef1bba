"""`check_simulator`: says what is wrong with a simulator before it is driven."""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise

from trailbrake import simulator_tools as tools
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.driving.spec import DriveSpec, EmbeddedSite
from trailbrake.driving.supervised.supervised_car import open_car
from trailbrake.errors import TrailbrakeError
from trailbrake.roles import Host, Link, PacedLink, SignalSource
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator, Simulator, check_declaration, load_part, missing_members, part_place
from trailbrake.state import Controls

LONGEST_PERIOD = 0.05  # s
SAMPLES = 20  # of the trial drive in the embedded world


def check_simulator(simulator: AnySimulator | str, *, drive: bool = True) -> list[str]:
    """Return what is wrong with a simulator, a sentence each; an empty list means that it can be used.

    Args:
        simulator: a Simulator, or what `--sim` takes: a name, FILE.py or FILE.py:NAME.
        drive: whether to exchange a few samples with its host and the embedded world, in this process.
    """
    try:
        subject = registry.find(simulator) if isinstance(simulator, str) else simulator
        check_declaration(subject, "the simulator" if not isinstance(subject, Simulator) else subject.name)
    except TrailbrakeError as error:
        return [str(error)]
    problems = [*_check_options(subject), *_check_parts(subject), *_check_tools(subject), *_check_driver(subject)]
    if drive and not problems:
        problems += _check_drive(subject)
    return problems


def _check_options(simulator: AnySimulator) -> Iterator[str]:
    """Yield what is wrong with the options and the functions of options."""
    live, serve = simulator.live_options(), simulator.serve_options()
    for name, options in (("live_options", simulator.live_options), ("serve_options", simulator.serve_options)):
        yield from _undocumented(name, options)
    period, cars = simulator.period(serve), simulator.count_cars(serve)
    if not 0.0 < period <= LONGEST_PERIOD:
        yield f"period: expected above 0 s, {LONGEST_PERIOD:g} s at most, got {period!r}"
    if not (isinstance(cars, int) and cars >= 1):
        yield f"cars: expected 1 or more, got {cars!r}"
    speed = simulator.choose_speed(serve)
    if speed not in ("real", "max"):
        yield f"pace: expected real or max, got {speed!r}"
    if simulator.paced_by not in ("none", "link", "answers"):
        yield f"paced_by: expected none, link or answers, got {simulator.paced_by!r}"
    try:
        odd = [
            signal.name for signal in simulator.list_signals(live) if not signal.name.startswith(f"{simulator.name}.")
        ]
    except (Exception, SystemExit) as error:
        yield f"signals: raised {type(error).__name__}: {error}"
    else:
        if odd:
            yield f"signals: expected names that begin with {simulator.name}., got {odd[0]}"
    embedded = simulator.make_embedded_options(live, 1)
    if not isinstance(embedded, simulator.serve_options):
        yield f"embedded_options: expected {simulator.serve_options.__name__}, got {type(embedded).__name__}"
    if simulator.options_for_car is not None:
        second = simulator.options_for_car(live, 1)
        if not isinstance(second, simulator.live_options):
            yield f"options_for_car: expected {simulator.live_options.__name__}, got {type(second).__name__}"


def _undocumented(name: str, options: type) -> Iterator[str]:
    """Yield the options without a line in the class's docstring: help shows it."""
    assert is_dataclass(options)
    for item in fields(options):
        if f"{item.name}: " not in (options.__doc__ or ""):
            yield f"{name}: the docstring of {options.__name__} has no line for {item.name}"


def _check_parts(simulator: AnySimulator) -> Iterator[str]:
    """Yield what is wrong with link and host: import, arguments, members, declared fields."""
    live, serve = simulator.live_options(), simulator.serve_options()
    calls = (
        ("link", simulator.link, Link, (live,), {"doors": None, "idle": None}),
        ("host", simulator.host, Host, (None, serve), {"doors": None}),
    )
    for name, part, protocol, places, names in calls:
        where = f"{part_place(part)}, {name}"
        try:
            factory = load_part(part)
        except TrailbrakeError as error:
            yield f"{name}: {error}"
            continue
        if not callable(factory):
            yield f"{where}: cannot be called"
            continue
        try:
            inspect.signature(factory).bind(*places, **names)
        except TypeError as error:
            yield f"{where}: {error}"
        if isinstance(factory, type):
            methods = {member for member in missing_members(factory, protocol) if callable(vars(protocol).get(member))}
            if methods:
                yield f"{where}: lacks {', '.join(sorted(methods))}"
        if name == "link" and isinstance(factory, type):
            declared = (("SUPPLIES", simulator.supplies), ("ACCEPTS", simulator.accepts))
            if simulator.signals is not None and missing_members(factory, SignalSource):
                yield f"{where}: lacks select_signals(), since the simulator declares signals"
            if simulator.paced_by == "link" and missing_members(factory, PacedLink):
                yield f"{where}: lacks set_step_time(), since the simulator is paced by its link"
            for member, wanted in declared:
                if _class_attributes(factory).get(member) != wanted:
                    yield f"{where}: {member} is not what the Simulator declares"


def _class_attributes(cls: type) -> dict[str, object]:
    """Return the attributes of a class and its bases."""
    return {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}


def _check_tools(simulator: AnySimulator) -> Iterator[str]:
    """Yield what is wrong with the tools: import, type, options."""
    for name, part in simulator.tools.items():
        kinds = tools.TOOL_TYPES[name]
        try:
            tool: object = load_part(part)
        except TrailbrakeError as error:
            yield f"{name}: {error}"
            continue
        if not isinstance(tool, kinds):
            yield f"{part_place(part)}, {name}: expected a {kinds[0].__name__}, got {type(tool).__name__}"
        elif "options" in vars(tool):
            yield from _undocumented(name, vars(tool)["options"])
        if isinstance(tool, tools.LinkRecorder) and simulator.watch_options is None:
            yield f"{name}: a LinkRecorder needs the simulator's watch_options"


def _check_driver(simulator: AnySimulator) -> Iterator[str]:
    """Yield why the default driver cannot drive it."""
    try:
        check_driver_needs(load_driver(simulator.default_driver), simulator.default_driver, simulator)
    except TrailbrakeError as error:
        yield f"default_driver: {error}"


def _check_drive(simulator: AnySimulator) -> list[str]:
    """Exchange a few samples with the host in front of the embedded world; return what went wrong."""
    setup = make_setup(simulator, DriveSpec(site=EmbeddedSite(sim=simulator.name)))
    try:
        with open_car(setup) as car:
            times = []
            for _ in range(SAMPLES):
                times.append(car.wait_for_state().time)
                car.write(Controls(brake=1.0))
    except TrailbrakeError as error:
        return [f"a drive in the embedded world: {error}"]
    except Exception as error:
        return [f"a drive in the embedded world raised {type(error).__name__}: {error}"]
    if any(after <= before for before, after in pairwise(times)):
        return ["a drive in the embedded world: the time of its samples does not grow"]
    return []
