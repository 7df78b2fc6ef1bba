"""The camera of a drive: the picture of a window, or the embedded world's view, as `--camera` describes it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from trailbrake.driving.session.camera_link import PictureSource
from trailbrake.errors import UsageError
from trailbrake.json_types import JsonObject
from trailbrake.roles import Plant, RoadPlant
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState
from trailbrake.transport.capture.camera_option import CameraOption, parse_camera
from trailbrake.transport.capture.picture_scaling import CapturedImage
from trailbrake.transport.client_notices import print_to_stderr

EARLY_S = 1e-6  # s of simulator time by which a picture may come before it is due: times are sums of periods


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


def camera_fields(text: str) -> frozenset[str]:
    """Return what the states of a drive have besides what the wire supplies."""
    return frozenset({"image"}) if text else frozenset()


class RenderedCamera:
    """The embedded world's view, for a world in this process: a picture whenever simulator time is due for one.

    The driver receives it as it receives a window's: compressed and at the camera's own rate, not the wire's.

    Args:
        plant: the world; its first car carries the camera.
        option: size and rate.

    Raises:
        UsageError: a world without a road of full size.
    """

    def __init__(self, plant: Plant, option: CameraOption) -> None:
        from trailbrake.world.road_renderer import DashCamera

        if not isinstance(plant, RoadPlant):
            raise UsageError("this world has no road to show", where="--camera world")
        self._plant, self._period = plant, 1.0 / option.rate
        self._camera = DashCamera(plant.track.road, option.width, option.height)
        self._picture: CapturedImage | None = None
        self._drawn_at = self._due_at = 0.0  # s of simulator time
        self._count = 0

    def find_picture(self, state: CarState) -> CapturedImage | None:
        """Return the newest picture at the simulator time of `state`."""
        now = state.time
        again = self._picture is None or now < self._drawn_at  # a restart
        if again or now >= self._due_at - EARLY_S:
            seen = self._plant.car_state(0)
            self._count += 1
            pixels = self._camera.render_frame(seen.x, seen.y, seen.yaw)
            self._picture = CapturedImage(pixels, self._count, now)
            self._drawn_at = now
            self._due_at = now + self._period if again else max(self._due_at + self._period, now)
        return self._picture

    def summarise_pictures(self) -> JsonObject:
        """Return how many pictures there were."""
        return {"pictures": self._count}

    def close(self) -> None:
        """Nothing to close."""


@contextmanager
def open_window_camera(option: CameraOption | None) -> Iterator[PictureSource | None]:
    """Open the window of `option`; None where it names none.

    Raises:
        UsageError, SimulatorError: as `live_camera.open_window`.
    """
    if option is None or option.kind != "window":
        yield None
        return
    from trailbrake.transport.capture.live_camera import LiveCamera, open_window

    with closing(LiveCamera(open_window(option), option, print_to_stderr)) as camera:
        yield camera


@contextmanager
def open_camera(option: CameraOption | None) -> Iterator[PictureSource | None]:
    """Open the camera of a live simulator: a window, or the page of a served world; None for None."""
    with open_window_camera(option) as window:
        if option is None or window is not None:
            yield window
        else:
            with open_world_camera(option, None, None) as world:
                yield world


@contextmanager
def open_world_camera(option: CameraOption, plant: Plant | None, doors: str | None) -> Iterator[PictureSource]:
    """Open the view of a world: drawn here where the world is in this process, else read from the host's page.

    Args:
        option: size and rate.
        plant: the world in this process; None without one.
        doors: folder of the private wire; None = the public names.

    Raises:
        SimulatorError: the host shows no view.
    """
    if plant is not None:
        yield RenderedCamera(plant, option)
        return
    from trailbrake.transport.capture.live_camera import LiveCamera
    from trailbrake.transport.capture.view_page import ViewReader

    with closing(LiveCamera(ViewReader(doors), option, print_to_stderr)) as camera:
        yield camera
