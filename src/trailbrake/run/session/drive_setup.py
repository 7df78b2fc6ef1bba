"""`DriveSetup`: a drive whose simulator and options are known. It replaces names and flags below the edge."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from trailbrake.errors import UsageError
from trailbrake.roles import Driver, StickDriven
from trailbrake.run.options import DriveOptions, WorldOptions
from trailbrake.run.session.driver_needs import select_signals
from trailbrake.run.session.option_pairs import change_options
from trailbrake.run.session.session_camera import choose_camera
from trailbrake.simulator import AnySimulator
from trailbrake.state import Signal
from trailbrake.transport.capture.camera_option import CameraOption


@dataclass(frozen=True)
class DriveSetup:
    """A drive.

    Attributes:
        simulator: whose wire the drive goes through.
        options: the drive's options; track and car are named, except in a live drive that does not know them.
        live: the simulator's live options, for the links.
        serve: the simulator's serve options, for the host of the embedded world; None in a live drive.
        signals: the selected signals, which the links fill in.
        camera: the camera that the wire does not have; None without one.
    """

    simulator: AnySimulator
    options: DriveOptions
    live: object
    serve: object
    signals: tuple[Signal, ...] = ()
    camera: CameraOption | None = None

    @property
    def world(self) -> WorldOptions:
        """The embedded world of the drive."""
        options = self.options
        return WorldOptions(track=options.track, car=options.car, seed=options.seed, speed="max", world=options.world)

    @property
    def wire_delay(self) -> float:
        """Simulator time (s) from a sample until its answer is in force, by the embedded host's protocol; live 0."""
        return 0.0 if self.options.live else self.simulator.answer_delay(self.serve)


def make_setup(
    simulator: AnySimulator, options: DriveOptions, live: object = None, driver: Driver | None = None
) -> DriveSetup:
    """Return the setup of a drive.

    Args:
        simulator: whose wire.
        options: of the drive; embedded, a track or a car that is not named becomes that of the simulator's world.
        live: the simulator's live options; None for the defaults.
        driver: of the first car. A StickDriven one with `STICK = True` steers by the stick of a pad, where the
            embedded simulator can do so and `--host` does not choose otherwise.

    Raises:
        UsageError: `options.host` names an option that this simulator does not have, or a value that it cannot have;
            a selected signal is not the simulator's; `options.camera` is no camera for this drive; or the driver shall
            set the pace of a simulator that cannot wait.
    """
    live = live or simulator.live_options()
    if options.pace == "driver" and (options.live or options.speed == "real") and simulator.paced_by == "none":
        raise UsageError(f"{simulator.name} cannot wait for a driver", where="--pace driver",
                         expected="a simulator that waits", hint="leave --pace out")  # fmt: skip
    if not options.live:
        options = options.with_defaults(simulator.world)
    stick = isinstance(driver, StickDriven) and driver.STICK
    serve = None if options.live else embedded_options(simulator, options, live, stick=stick)
    camera = choose_camera(options.camera, simulator, live=options.live, speed=options.speed)
    signals = select_signals(simulator, live, options.signals, driver)
    return DriveSetup(simulator, options, live, serve, signals, camera)


def make_live_options(simulator: AnySimulator, values: Mapping[str, object], where: str) -> object:
    """Return the live options of a simulator with these values by name.

    Raises:
        UsageError: the simulator has no such option; `where` names the function that was called.
    """
    known = [item.name for item in fields(simulator.live_options)]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise UsageError(f"{simulator.name} has no option {unknown[0]}", where=where, expected=", ".join(known))
    options: object = simulator.make_live_options(values)
    return options


def embedded_options(simulator: AnySimulator, options: DriveOptions, live: object, *, stick: bool = False) -> object:
    """Return the serve options of the world behind a drive whose links have the live options `live`.

    Args:
        simulator: whose wire.
        options: of the drive: cars and host.
        live: the simulator's live options.
        stick: whether the driver's steer is the position of a pad's stick.

    Raises:
        UsageError: `options.host` names an option that this simulator does not have, or a value that it cannot have.
    """
    base = simulator.make_embedded_options(live, options.cars)
    if stick and simulator.stick_options is not None:
        base = simulator.stick_options(base)
    changed: object = change_options(base, options.host, "--host", "the embedded simulator")
    return changed
