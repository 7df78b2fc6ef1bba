"""`DriveSetup`: a drive whose simulator and options are known. It replaces names and flags below the edge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trailbrake.drivers.loading.driver_registry import declared_needs
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.embedded_worlds import EmbeddedWorld, change_options, settle_world
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite, write_spec
from trailbrake.errors import UsageError
from trailbrake.json_types import JsonObject
from trailbrake.record.format import WIRE_DELAY
from trailbrake.record.parted_file import ONE_FILE, PartLimits, make_part_limits
from trailbrake.roles import AnswersLate, Driver, StickDriven, TakesStick
from trailbrake.simulator import AnySimulator, load_part
from trailbrake.simulator_tools import SessionTool
from trailbrake.state import Signal
from trailbrake.state.signals import is_signal_name, match_signals
from trailbrake.transport.capture.camera_option import CameraOption, parse_camera


@dataclass(frozen=True)
class DriveSetup:
    """A drive.

    Attributes:
        simulator: whose wire the drive goes through.
        spec: the drive; embedded, track and car of the world are named.
        live: the simulator's live options, for the links.
        serve: the simulator's serve options, for the host of the embedded world; None in a live drive.
        world: the embedded world; None in a live drive.
        signals: the selected signals, which the links fill in.
        camera: the camera that the wire does not have; None without one.
        part_limits: of a file of the recording.
    """

    simulator: AnySimulator
    spec: DriveSpec
    live: object
    serve: object = None
    world: EmbeddedWorld | None = None
    signals: tuple[Signal, ...] = ()
    camera: CameraOption | None = None
    part_limits: PartLimits = ONE_FILE

    @property
    def site(self) -> EmbeddedSite:
        """The embedded simulator; only where the drive is not live."""
        assert isinstance(self.spec.site, EmbeddedSite)
        return self.spec.site

    @property
    def wire_delay(self) -> float:
        """Simulator time (s) from a sample until its answer is in force, by the embedded host's protocol; live 0."""
        host: object = None if self.spec.is_live else load_part(self.simulator.host)
        return host.answer_delay(self.serve) if isinstance(host, AnswersLate) else 0.0

    @property
    def session_tool(self) -> SessionTool[object] | None:
        """What a live drive learns from the game itself; None without a game, or where it cannot supply anything."""
        tool = self.simulator.tools.get("session") if self.spec.is_live else None
        return None if tool is None else load_part(tool)

    def describe(self) -> JsonObject:
        """Return what a recording, and its readers of before there were specs, know a drive by."""
        spec, site, first = self.spec, self.spec.site, self.spec.first
        signals = describe_signals(self.signals)
        world: list[str] = []
        if isinstance(site, EmbeddedSite):
            own = (("car", site.car, spec.car), ("track", site.track, spec.track))
            world = [*site.conditions, *(f"{name}={value}" for name, value, given in own if value != given)]
        return {
            "sim": self.simulator.name,  # that of the site may be a file
            "live": spec.is_live,
            "driver": first.driver,
            "track": spec.track,
            "car": spec.car,
            **({"gain": list(first.gain)} if first.gain else {}),
            **({"world": world} if world else {}),
            "seed": 0 if isinstance(site, LiveSite) else site.seed,
            "speed": "max" if isinstance(site, LiveSite) else site.speed,
            **({"camera": site.camera} if site.camera else {}),
            "spec": write_spec(spec),
            WIRE_DELAY: self.wire_delay,
            **({"signals": signals} if signals else {}),
        }

    def with_drivers(self, drivers: Sequence[Driver]) -> "DriveSetup":
        """Return the setup with what the drivers need.

        Args:
            drivers: of the cars. Where the first is StickDriven with `STICK = True`, the embedded simulator takes the
                stick of a pad, if it can do so and `--host` does not choose otherwise.

        Raises:
            UsageError: a needed or selected signal is not the simulator's, or the spec names an option of the embedded
                simulator that this one does not have, or a value that it cannot have.
        """
        simulator, spec, live = self.simulator, self.spec, self.live
        serve = None
        if isinstance(spec.site, EmbeddedSite):
            stick = bool(drivers) and isinstance(drivers[0], StickDriven) and drivers[0].STICK
            serve = embedded_options(simulator, spec.site.host, live, cars=len(spec.cars), stick=stick)
        return replace(self, serve=serve, signals=select_signals(simulator, live, spec.keep.signals, drivers))


def make_setup(
    simulator: AnySimulator, spec: DriveSpec, live: object = None, drivers: Sequence[Driver] = ()
) -> DriveSetup:
    """Return the setup of a drive.

    Args:
        simulator: whose wire.
        spec: the drive; embedded, a track or a car that is not named becomes that of the simulator's world.
        live: the simulator's live options; None for those of the spec.
        drivers: of the cars, as `DriveSetup.with_drivers` takes them.

    Raises:
        UsageError: as `DriveSetup.with_drivers`; the wire takes fewer cars; there is no such camera for this drive, or
            no recording or log of this kind; or the driver shall set the pace of a simulator that cannot wait.
    """
    site = spec.site
    if len(spec.cars) > 1 and simulator.options_for_car is None:
        raise UsageError(f"one car only through the wire of {simulator.name}", where="--cars", expected="1",
                         got=str(len(spec.cars)))  # fmt: skip
    if site.pace == "driver" and spec.is_real_time and simulator.paced_by == "none":
        raise UsageError(f"{simulator.name} cannot wait for a driver", where="--pace driver",
                         expected="a simulator that waits", hint="leave --pace out")  # fmt: skip
    camera = choose_camera(site.camera, simulator, is_real_time=spec.is_real_time)
    keep = spec.keep
    if keep.log and not keep.pictures:
        raise UsageError("a driving log is made of pictures", where="--log", hint="leave --no-pictures out")
    part_limits = make_part_limits(keep.part_minutes, keep.part_megabytes, keep.keep_parts)
    live = live or simulator.make_live_options(site.options)
    spec = spec.with_site_defaults(simulator.world)
    world = None
    if isinstance(site, EmbeddedSite):
        named = WorldOptions(track=site.track, car=site.car, seed=site.seed, world=site.conditions)
        world = settle_world(named, simulator.world)
    setup = DriveSetup(simulator, spec, live, world=world, camera=camera, part_limits=part_limits)
    return setup.with_drivers(drivers)


def choose_camera(text: str, simulator: AnySimulator, *, is_real_time: bool) -> CameraOption | None:
    """Return the camera that `--camera` describes; None for "".

    Args:
        text: of the option.
        simulator: whose wire.
        is_real_time: whether time does not wait for the drivers.

    Raises:
        UsageError: no such camera; a wire that has its own; or a window where no time passes for it.
    """
    option = parse_camera(text)
    if option is None:
        return None
    if "image" in simulator.supplies:
        raise UsageError(f"{simulator.name} has a camera of its own", where="--camera", hint="leave --camera out")
    if option.kind == "window" and not is_real_time:
        raise UsageError("a window shows real time, and this drive runs as fast as it can", where="--camera",
                         hint="add --live for a game, or take --camera world")  # fmt: skip
    return option


def embedded_options(
    simulator: AnySimulator, host: tuple[str, ...], live: object, *, cars: int = 1, stick: bool = False
) -> object:
    """Return the serve options of the world behind a drive whose links have the live options `live`.

    Args:
        simulator: whose wire.
        host: options of the embedded simulator, KEY=VALUE.
        live: the simulator's live options.
        cars: how many cars are driven.
        stick: whether the driver's steer is the position of a pad's stick.

    Raises:
        UsageError: `host` names an option that this simulator does not have, or a value that it cannot have.
    """
    base = simulator.make_embedded_options(live, cars)
    host_class: object = load_part(simulator.host) if stick else None
    if isinstance(host_class, TakesStick):
        base = host_class.stick_options(base)
    changed: object = change_options(base, host, "--host", "the embedded simulator")
    return changed


def select_signals(
    simulator: AnySimulator, live: object, patterns: Sequence[str], drivers: Sequence[Driver] = ()
) -> tuple[Signal, ...]:
    """Return the signals of a drive: those that the driver needs, and those that the user wants.

    Args:
        simulator: whose wire.
        live: the simulator's live options.
        patterns: of the user: names, or patterns as `beamng.wheel_*`, several with commas between; `all` for every
            signal.
        drivers: of the cars.

    Raises:
        UsageError: the simulator has no such signal.
    """
    needs = sorted({need for driver in drivers for need in declared_needs(driver, "NEEDS") if is_signal_name(need)})
    if not needs and not patterns:
        return ()
    declared = simulator.list_signals(live)
    chosen = [name for text in patterns for name in text.split(",")]
    wanted = {*match_signals(declared, needs, where="NEEDS of the driver"),
              *match_signals(declared, chosen, where="--signals")}  # fmt: skip
    return tuple(signal for signal in declared if signal in wanted)


def describe_signals(signals: Sequence[Signal]) -> list[JsonObject]:
    """Return name, unit and meaning of each signal, as a recording and the live page tell them."""
    return [{"name": s.name, "unit": s.quantity.unit, "meaning": s.quantity.meaning} for s in signals]
