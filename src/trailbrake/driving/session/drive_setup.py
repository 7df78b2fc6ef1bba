"""`DriveSetup`: a drive whose simulator and options are known. It replaces names and flags below the edge."""

from collections.abc import Sequence
from dataclasses import dataclass

from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.driver_needs import select_signals
from trailbrake.driving.session.session_camera import choose_camera
from trailbrake.driving.session.world_properties import change_options
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite
from trailbrake.errors import UsageError
from trailbrake.roles import AnswersLate, Driver, StickDriven, TakesStick
from trailbrake.simulator import AnySimulator, load_part
from trailbrake.state import Signal
from trailbrake.transport.capture.camera_option import CameraOption


@dataclass(frozen=True)
class DriveSetup:
    """A drive.

    Attributes:
        simulator: whose wire the drive goes through.
        spec: the drive; embedded, track and car of the world are named.
        live: the simulator's live options, for the links.
        serve: the simulator's serve options, for the host of the embedded world; None in a live drive.
        signals: the selected signals, which the links fill in.
        camera: the camera that the wire does not have; None without one.
    """

    simulator: AnySimulator
    spec: DriveSpec
    live: object
    serve: object
    signals: tuple[Signal, ...] = ()
    camera: CameraOption | None = None

    @property
    def site(self) -> EmbeddedSite:
        """The embedded simulator; only where the drive is not live."""
        assert isinstance(self.spec.site, EmbeddedSite)
        return self.spec.site

    @property
    def world(self) -> WorldOptions:
        """The embedded world of the drive."""
        site = self.site
        return WorldOptions(track=site.track, car=site.car, seed=site.seed, speed="max", world=site.conditions)

    @property
    def wire_delay(self) -> float:
        """Simulator time (s) from a sample until its answer is in force, by the embedded host's protocol; live 0."""
        host: object = None if self.spec.is_live else load_part(self.simulator.host)
        return host.answer_delay(self.serve) if isinstance(host, AnswersLate) else 0.0


def make_setup(
    simulator: AnySimulator, spec: DriveSpec, live: object = None, drivers: Sequence[Driver] = ()
) -> DriveSetup:
    """Return the setup of a drive.

    Args:
        simulator: whose wire.
        spec: the drive; embedded, a track or a car that is not named becomes that of the simulator's world.
        live: the simulator's live options; None for those of the spec.
        drivers: of the cars. Where the first is StickDriven with `STICK = True`, the embedded simulator takes the stick
            of a pad, if it can do so and `--host` does not choose otherwise.

    Raises:
        UsageError: the spec names an option that this simulator does not have, or a value that it cannot have;
            a selected signal is not the simulator's; there is no such camera for this drive; or the driver shall
            set the pace of a simulator that cannot wait.
    """
    site = spec.site
    live = live or simulator.make_live_options(site.options)
    if site.pace == "driver" and spec.is_real_time and simulator.paced_by == "none":
        raise UsageError(f"{simulator.name} cannot wait for a driver", where="--pace driver",
                         expected="a simulator that waits", hint="leave --pace out")  # fmt: skip
    spec = spec.with_site_defaults(simulator.world)
    first = drivers[0] if drivers else None
    stick = isinstance(first, StickDriven) and first.STICK
    serve = None
    if isinstance(site, EmbeddedSite):
        serve = embedded_options(simulator, site.host, live, cars=len(spec.cars), stick=stick)
    camera = choose_spec_camera(simulator, spec)
    signals = select_signals(simulator, live, spec.keep.signals, drivers)
    return DriveSetup(simulator, spec, live, serve, signals, camera)


def choose_spec_camera(simulator: AnySimulator, spec: DriveSpec) -> CameraOption | None:
    """Return the camera of a drive; UsageError as `choose_camera`."""
    site = spec.site
    speed = "real" if isinstance(site, LiveSite) else site.speed
    return choose_camera(site.camera, simulator, live=spec.is_live, speed=speed)


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
