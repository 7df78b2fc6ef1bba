"""`Simulator`: everything that the package knows of one simulator, declared in one object.

A folder of `sims`, another package or a file of the user declares `SIMULATOR = Simulator(...)`; `sims.registry.find`
returns it. Parts that need more than constants (link, host, tools) are `Deferred`: their modules are imported when the
part is first used, so that `trailbrake --help` imports none of them.
"""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
    get_type_hints,
)

from trailbrake.errors import DataError, TrailbrakeError, UsageError, raised_at, suggest_names

if TYPE_CHECKING:  # help imports this module: it must stay cheap
    from trailbrake import simulator_tools as kinds
    from trailbrake.roles import Host, Link, Plant, RoadPlant
    from trailbrake.simulator_tools import Doors, Idle
    from trailbrake.state.signals import Signal

_ALWAYS_SUPPLIED = frozenset({"time", "sequence", "age", "phase"})
WorldKind = Literal["car", "road", "miniature"]  # full-size cars; the same with a camera; the miniature world
Speed = Literal["real", "max"]
BEST_DRIVER = "line_track"  # the quickest that drives a known car on a known road
ANY_CAR_DRIVER = "policy:any"  # takes its place where the car has no file
ESTIMATE_DRIVER = "line_follow"  # takes its place where the car's file is an estimate that no laps have verified

T = TypeVar("T")
Live = TypeVar("Live")
Serve = TypeVar("Serve")
LiveIn = TypeVar("LiveIn", contravariant=True)
ServeIn = TypeVar("ServeIn", contravariant=True)


class LinkFactory(Protocol[LiveIn]):
    """Makes a link that is not open yet."""

    def __call__(self, options: LiveIn, *, doors: "Doors" = None, idle: "Idle | None" = None) -> "Link":
        """Return a link.

        Args:
            options: the simulator's live options.
            doors: folder in which both ends of a private wire find each other; None = the public addresses.
            idle: lets a little time pass and returns the new `now`; `open` calls it while it waits.
        """


class HostFactory(Protocol[ServeIn]):
    """Makes a host that is not open yet."""

    def __call__(self, plant: "RoadPlant", options: ServeIn, *, doors: "Doors" = None) -> "Host":
        """Return a host that serves `plant`; `doors` as for a link."""


class Deferred(Generic[T]):
    """A part whose module is imported when the part is first used.

    Args:
        path: MODULE:NAME, as "trailbrake.sims.assetto.link:Link".
    """

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Deferred({self.path!r})"

    def load(self) -> T:
        """Import the module and return the part.

        Raises:
            DataError: the module cannot be imported, or has no such name.
        """
        module_name, _, name = self.path.partition(":")
        try:
            module = importlib.import_module(module_name)
        except TrailbrakeError:
            raise
        except (Exception, SystemExit) as error:
            raise DataError(f"raised {type(error).__name__} on import: {error}", where=self.path) from error
        try:
            part: T = vars(module)[name]
        except KeyError:
            raise DataError("the module has no such part", where=self.path, got=name) from None
        return part


class Tools(TypedDict, total=False):
    """The tools that a simulator may bring, by their names: the verbs `NAME`, `sim`, `record` and `replay`.

    `session` finds the track and the car of a live session. `simulator_tools` has the types.
    """

    doctor: "kinds.DoctorTool[Any] | Deferred[kinds.DoctorTool[Any]]"
    setup: "kinds.SetupTool[Any] | Deferred[kinds.SetupTool[Any]]"
    sniff: "kinds.SniffTool[Any] | Deferred[kinds.SniffTool[Any]]"
    probe: "kinds.ProbeTool[Any] | Deferred[kinds.ProbeTool[Any]]"
    control: "kinds.ControlTool[Any] | Deferred[kinds.ControlTool[Any]]"
    recorder: "kinds.AnyRecorder | Deferred[kinds.AnyRecorder]"
    replay: "kinds.ReplayTool | Deferred[kinds.ReplayTool]"
    session: "kinds.SessionTool[Any] | Deferred[kinds.SessionTool[Any]]"
    verify: "kinds.VerifyTool | Deferred[kinds.VerifyTool]"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # help waits for this class to be made
class Simulator(Generic[Live, Serve]):
    """One simulator.

    Attributes:
        name: as in `--sim NAME`; also the name of its folder or entry point.
        title: for people.
        supplies: names of `state.tables.STATE_FIELDS` that its wire supplies.
        accepts: names of CONTROL_FIELDS and COMMAND_FIELDS that its wire passes on.
        supplied: returns which of `supplies`, and which fields more, a wire with these live options supplies; None:
            `supplies`, whatever the options are.
        signals: returns what the wire carries beyond its fields, from the live options; its links are SignalSources.
        paced_by: what makes the simulator wait for a slow driver: "link" = its link is a PacedLink, "answers" = it
            waits for every answer by itself, "none" = it cannot.
        live_options: class of the options of `--live`: a dataclass, every field with a default.
        serve_options: class of the options of `serve`: a dataclass, every field with a default.
        link: makes the driver's end of the wire.
        host: makes the simulator's end of the wire.
        period: s of simulator time that one tick of the host advances.
        cars: number of cars that the host needs on the track; None: 1.
        world: kind of embedded world behind the host.
        camera: of a "road" world: fields of `world.pinhole_camera.PinholeCamera`.
        default_driver: drives where the user names no driver; in place of BEST_DRIVER drives ESTIMATE_DRIVER with a car
            whose file is an estimate that no laps have verified, and ANY_CAR_DRIVER with one that has no file.
        unmapped_driver: the same in a live drive on a road that is not known; "" = default_driver, which is refused
            there if it needs a road.
        embedded_options: options of a world that exists for one drive, from the links' live options and the number of
            cars. None: the defaults.
        options_for_car: the live options of car `number` of a drive, from those of car 0. None: one car only.
        pace: speed of `serve` where the user names none; None: "real".
        watch_options: live options under which the link sends no controls, for `watch` and a LinkRecorder; None where
            it always takes the car.
        program_options: serve options under which the host connects to a program at HOST:PORT and waits so many s for
            its answer; None where programs connect to the host.
        tools: what else it brings, by name.
    """

    name: str
    title: str
    supplies: frozenset[str]
    accepts: frozenset[str]
    live_options: type[Live]
    serve_options: type[Serve]
    link: LinkFactory[Live] | Deferred[LinkFactory[Live]]
    host: HostFactory[Serve] | Deferred[HostFactory[Serve]]
    period: Callable[[Serve], float]
    supplied: "Callable[[Live], frozenset[str]] | Deferred[Callable[[Live], frozenset[str]]] | None" = None
    signals: "Callable[[Live], Sequence[Signal]] | Deferred[Callable[[Live], Sequence[Signal]]] | None" = None
    paced_by: Literal["none", "link", "answers"] = "none"
    cars: Callable[[Serve], int] | None = None
    world: WorldKind = "car"
    camera: Mapping[str, float] | None = None
    default_driver: str = BEST_DRIVER
    unmapped_driver: str = ""
    embedded_options: Callable[[Live, int], Serve] | None = None
    options_for_car: Callable[[Live, int], Live] | None = None
    pace: Callable[[Serve], Speed] | None = None
    watch_options: Callable[[Live], Live] | None = None
    program_options: Callable[[Serve, str, float], Serve] | None = None
    tools: Tools = field(default_factory=Tools)

    def __repr__(self) -> str:
        return f"Simulator({self.name!r})"

    def make_link(self, options: Live, *, doors: "Doors" = None, idle: "Idle | None" = None) -> "Link":
        """Return a link that is not open yet; the arguments are those of `LinkFactory`.

        Raises:
            DataError: the part cannot be imported or called so, or what it makes is no Link.
        """
        from trailbrake.roles import Link

        try:
            link = load_part(self.link)(options, doors=doors, idle=idle)
        except TypeError as error:
            raise _wrong_signature(error, self.link, "link", "Link(options, *, doors, idle)") from error
        _require_members(link, Link, self.link, "link")
        return link

    def make_host(self, plant: "Plant", options: Serve, *, doors: "Doors" = None) -> "Host":
        """Return a host that is not open yet; the arguments are those of `HostFactory`.

        Raises:
            DataError: the part cannot be imported or called so, or what it makes is no Host.
        """
        from trailbrake.roles import Host

        factory: Any = load_part(self.host)  # a host of a "miniature" simulator gets a Plant, the others a RoadPlant
        try:
            host: Host = factory(plant, options, doors=doors)
        except TypeError as error:
            raise _wrong_signature(error, self.host, "host", "Host(plant, options, *, doors)") from error
        _require_members(host, Host, self.host, "host")
        return host

    def make_live_options(self, values: Mapping[str, object]) -> Live:
        """Return the live options with these values by name; a text stands for a path where the option is a path.

        Raises:
            UsageError: there is no such option, or it has values of another type.
        """
        import msgspec

        known = get_type_hints(self.live_options)
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise UsageError(f"{self.name} has no option {unknown[0]}", where="live options", expected=", ".join(known))
        plain = {name: value.item() if hasattr(value, "item") else value for name, value in values.items()}  # of NumPy
        try:
            return msgspec.convert(plain, self.live_options, dec_hook=_make_option)
        except msgspec.ValidationError as error:
            raise UsageError(f"{self.name} has no such value: {error}", where="live options") from None

    def list_supplied(self, live: Live | None) -> frozenset[str]:
        """Return the names of STATE_FIELDS that a wire with the live options `live`, None: the usual, supplies."""
        options = self.live_options() if live is None else live
        return self.supplies if self.supplied is None else load_part(self.supplied)(options)

    def list_signals(self, live: Live | None) -> "tuple[Signal, ...]":
        """Return the signals that a wire with the live options `live`, None: the usual, carries."""
        options = self.live_options() if live is None else live
        return () if self.signals is None else tuple(load_part(self.signals)(options))

    def count_cars(self, options: Serve) -> int:
        """Return the number of cars that the host needs on the track."""
        return 1 if self.cars is None else self.cars(options)

    def choose_speed(self, options: Serve) -> Speed:
        """Return the speed of `serve` where the user names none."""
        return "real" if self.pace is None else self.pace(options)

    def load_recorder(self) -> "kinds.AnyRecorder | None":
        """Import and return the tool for `record`; None where there is none."""
        part = self.tools.get("recorder")
        return part.load() if isinstance(part, Deferred) else part

    def make_embedded_options(self, live: Live, cars: int) -> Serve:
        """Return the options of a world that exists for one drive of `cars` cars through links with `live`."""
        return self.serve_options() if self.embedded_options is None else self.embedded_options(live, cars)


AnySimulator: TypeAlias = Simulator[Any, Any]


def _make_option(kind: type, value: object) -> object:
    """Return a value of an option whose type MessagePack and JSON do not know: a text stands for a path."""
    return kind(value) if isinstance(value, str) else value


def part_place(part: object) -> str:
    """Return where a part is written, for errors: MODULE:NAME, or FILE:NAME of a user's own file."""
    if isinstance(part, Deferred):
        return part.path
    module = sys.modules.get(str(getattr(part, "__module__", "")))
    file = getattr(module, "__file__", None)
    return f"{file or 'the simulator'}:{getattr(part, '__qualname__', type(part).__name__)}"


def missing_members(part: object, protocol: type) -> list[str]:
    """Return the members of a protocol that `part` does not have."""
    members = {name for base in protocol.__mro__ for name in (*vars(base), *vars(base).get("__annotations__", ()))}
    return sorted(name for name in members if not name.startswith("_") and not hasattr(part, name))


def _wrong_signature(error: TypeError, part: object, kind: str, expected: str) -> Exception:
    """Return the error to raise for a TypeError of a factory: itself, where the factory's own code raised it."""
    if raised_at(error):
        return error
    return DataError(f"wrong arguments: {error}", where=f"{part_place(part)}, {kind}", expected=expected)


def _require_members(part: object, protocol: type, factory: object, kind: str) -> None:
    missing = missing_members(part, protocol)
    if missing:
        raise DataError(f"the {kind} lacks {', '.join(missing)}", where=f"{part_place(factory)}, {kind}",
                        expected=f"what roles.{protocol.__name__} has")  # fmt: skip


def load_part(part: T | Deferred[T]) -> T:
    """Return a part of a simulator; imports it where it is deferred."""
    return part.load() if isinstance(part, Deferred) else part


def check_declaration(value: object, where: str) -> AnySimulator:
    """Return `value` if it is a Simulator whose declaration can be used. Imports no part of it.

    Raises:
        DataError: it is none, or one of its fields cannot be used; `where` and the field are named.
    """
    from trailbrake.state.commands import COMMAND_FIELDS
    from trailbrake.state.tables import CONTROL_FIELDS, STATE_FIELDS

    if not isinstance(value, Simulator):
        raise DataError("no Simulator", where=where, expected="SIMULATOR = Simulator(...)", got=type(value).__name__)
    if not (isinstance(value.name, str) and value.name.isidentifier()):
        raise DataError("no name", where=f"{where}, name", expected="letters, digits and _", got=repr(value.name))
    declared = {
        "supplies": (value.supplies, STATE_FIELDS, _ALWAYS_SUPPLIED),
        "accepts": (value.accepts, CONTROL_FIELDS | COMMAND_FIELDS, frozenset[str]()),
    }
    for name, (given, known, least) in declared.items():
        if not isinstance(given, frozenset):
            raise DataError("no frozenset of field names", where=f"{where}, {name}", got=type(given).__name__)
        unknown, missing = sorted(map(str, given - known)), sorted(least - given)
        if unknown:
            raise DataError("unknown field", where=f"{where}, {name}", got=unknown[0],
                            hint=suggest_names(unknown[0], sorted(known)))  # fmt: skip
        if missing:
            raise DataError("every simulator supplies these", where=f"{where}, {name}", expected=", ".join(missing))
    for name, options in (("live_options", value.live_options), ("serve_options", value.serve_options)):
        _check_options(options, f"{where}, {name}")
    for name in ("link", "host", "period", "cars"):
        part = vars(value)[name]
        if not (callable(part) or isinstance(part, Deferred) or (name == "cars" and part is None)):
            raise DataError("cannot be called", where=f"{where}, {name}", got=repr(part))
    if not isinstance(value.tools, Mapping):
        raise DataError("no mapping of tools", where=f"{where}, tools", got=type(value.tools).__name__)
    for name in value.tools.keys() - Tools.__annotations__.keys():
        raise DataError("no such tool", where=f"{where}, tools", got=repr(name),
                        hint=suggest_names(str(name), list(Tools.__annotations__)))  # fmt: skip
    if value.world not in get_args(WorldKind):
        raise DataError("no kind of world", where=f"{where}, world", expected=", ".join(get_args(WorldKind)),
                        got=repr(value.world))  # fmt: skip
    return value


def _check_options(options: object, where: str) -> None:
    if not (isinstance(options, type) and is_dataclass(options)):
        raise DataError("no dataclass", where=where, got=repr(options))
    for item in fields(options):
        if item.default is MISSING and item.default_factory is MISSING:
            raise DataError("an option without a default", where=where, got=item.name)
