"""One car of the host: its pages, and the client that drives it.

Source: protocol page assetto-custom-ai, sections 1, 2 and 4. A client takes a car by creating CarControls<N>, before
or after the host starts. The car is free again when that page is removed, or when no process holds it open any more
after one did: on Linux a killed client leaves its page behind. Such a page has no effect until its content changes.
"""

import math
from collections.abc import Callable

from trailbrake.cars.params import CarParams
from trailbrake.errors import SimulatorError, WireError
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.wire.button_state import GearSelector, SettingCounters, unsupported_requests
from trailbrake.sims.assetto.wire.car_condition import CarCondition, TripLog
from trailbrake.sims.assetto.wire.host_pages import HostPages
from trailbrake.state import CarState, Controls, Pose, SimCommand
from trailbrake.tracks.track import NEAR_TRACK
from trailbrake.transport.shm import LockState, SharedPage

_READ_TRIES = 3
_MAX_DISPLACEMENT = 0.5  # m from the target of a teleport to where the car stands; a bank moves it by less
_PACKET_ID_MASK = 0x7FFFFFFF


class CarSlot:
    """One car.

    Args:
        index: its number; 0 is the player's.
        params: the car.
        state: its state now.
        pages: of the host.
        say: receives lines for the user.
        refusal: why no client gets this car; "" where one may take it.
        is_public: whether the car has a public page.

    Attributes:
        state: newest; the host updates it.
        message: newest valid controls of the client; None without a client.
        trip_log: laps and damage; the host updates it.
        condition: of tyres, discs and turbocharger; the host updates it.
        in_pits: whether the car was put into the pits and has not left them.
    """

    def __init__(
        self,
        index: int,
        params: CarParams,
        state: CarState,
        pages: HostPages,
        say: Callable[[str], None],
        *,
        refusal: str = "",
        is_public: bool = True,
    ) -> None:
        self.index, self.params, self.state = index, params, state
        self.trip_log, self.setting_counters = TripLog(), SettingCounters(params)
        self.condition = CarCondition(params)
        self.in_pits = False
        self.message: codec.CarControls | None = None
        self.public = codec.CarPublic()
        self._pages, self._say, self._refusal = pages, say, refusal
        self._public_page = pages.create_kept_page(spec.public_name(index)) if is_public else None
        self._controls_page: SharedPage | None = None
        self._car_page: SharedPage | None = None
        self._packet_id = self._public_id = 0
        self._data = b""  # newest controls, valid or not
        self._client_controls: Controls | None = None  # `message` as controls of a car in the gear below
        self._client_controls_gear = 0
        self._gear_selector = GearSelector()
        self._was_held = False  # a process has been seen to hold the controls page
        self._abandoned_data: bytes | None = None  # its content when the client was gone
        self._said_subjects: set[str] = set()

    @property
    def has_client(self) -> bool:
        """Whether a client drives this car."""
        return self._controls_page is not None and self._abandoned_data is None

    # ---- Clients ----

    def poll_client(self) -> None:
        """Test whether a client has come or gone. Costs a few file calls: not for every step.

        A client whose page cannot be opened does not get the car; the host serves on.
        """
        try:
            self._find_client()
        except SimulatorError as error:
            self._say_once("page", f"a client requests it, and does not get it: {error}")
            self.release_client()

    def _find_client(self) -> None:
        name = spec.controls_name(self.index)
        if self._refusal:
            if self._pages.memory.page_exists(name):
                self._say_once("refusal", f"a client requests it, and does not get it: {self._refusal}")
            return
        if self._controls_page is not None and not self._controls_page.is_current():
            self.release_client()
        if self._controls_page is None:
            self._controls_page = self._pages.watch_page(name)
            if self._controls_page is None:
                return
            # A lock without a holder: the client was killed before the host started, and these are its last controls.
            if self._pages.memory.read_lock_state(name) is LockState.ABANDONED:
                self._abandoned_data = self._controls_page.read(codec.CONTROLS_SIZE)
        held = (
            self._pages.memory.read_lock_state(name) is LockState.HELD
            or self._controls_page.is_held_by_others() is True
        )
        if held:
            self._abandoned_data = None
        elif self._was_held:
            self._abandoned_data = self._controls_page.read(codec.CONTROLS_SIZE)
            self._forget_client()
            self._say(f"car {self.index}: its client is gone without a word; the car is taken from it")
        self._was_held = held
        if self._car_page is None and self.has_client:
            # Open or create: a client may have created the page (section 1, trap).
            self._car_page = self._pages.create_page(spec.car_name(self.index))

    def release_client(self) -> None:
        """Close the client's page and forget the client."""
        if self._controls_page is not None:
            self._controls_page.close()
        self._controls_page = self._abandoned_data = None
        self._was_held = False
        self._forget_client()

    def _forget_client(self) -> None:
        self.message = self._client_controls = None
        self._data = b""  # the next client may write the same bytes
        self._gear_selector, self.setting_counters = GearSelector(), SettingCounters(self.params)

    # ---- Controls in ----

    def read_command(self) -> SimCommand | None:
        """Read the newest controls; return their teleport as a command, in each step anew; None without one."""
        self._read_controls()
        message = self.message
        if message is None or message.teleport_to == convert.TELEPORT_NONE:
            return None
        if message.teleport_to == convert.TELEPORT_PITS:  # a level: again in every step; only the client clears it
            return SimCommand(to_pits=True)
        if message.teleport_to == convert.TELEPORT_POSE:
            return SimCommand(teleport=convert.pose_from_wire(message, self.state.yaw))
        return None

    def client_controls(self) -> Controls | None:
        """Return the client's controls in this step; None without a client. Call it once per step."""
        message = self.message
        if message is None:
            return None
        gear = self.state.gear or 0
        if self._client_controls is None or self._client_controls_gear != gear:
            self._client_controls, self._client_controls_gear = (
                convert.controls_from_wire(message, gear, self.setting_counters.values),
                gear,
            )
        if message.autoshift_active:
            self._gear_selector.cancel_shift()
        else:
            self._client_controls.gear = self._gear_selector.select_gear(message, gear, self.params.gearbox.top_gear)
        return self._client_controls

    def mark_moved(self, *, repaired: bool) -> None:
        """Record that a command has moved the car."""
        self._gear_selector.cancel_shift()
        self.trip_log.mark_discontinuity(repaired=repaired)
        if repaired:
            self.condition.reset()
        self.in_pits = repaired

    def report_displacement(self, target: Pose, state: CarState) -> None:
        """Report a teleport to a place where the world cannot put a car: it stands inside the walls then.

        Args:
            target: of the client.
            state: of the car after the teleport.
        """
        away = math.hypot(state.x - target.x, state.y - target.y)
        if away > _MAX_DISPLACEMENT:
            self._say_once(
                "displacement",
                f"its client put it to x {target.x:.1f}, y {target.y:.1f} (our world), beyond the walls: it stands "
                f"{away:.1f} m from there",
            )

    def report_unreachable(self, target: Pose) -> None:
        """Report a teleport to a place too far from the track, which is not obeyed."""
        self._say_once(
            "unreachable",
            f"its client puts it to x {target.x:.6g}, y {target.y:.6g} (our world): expected a place within "
            f"{NEAR_TRACK:g} m of the track; the car stays where it is",
        )

    def mark_restarted(self) -> None:
        """Record that the session was restarted."""
        self._gear_selector, self.setting_counters, self.trip_log = (
            GearSelector(),
            SettingCounters(self.params),
            TripLog(),
        )
        self._client_controls = None
        self.condition.reset()
        self.in_pits = False

    def _read_controls(self) -> None:
        """Decode the newest controls into `message`. Invalid ones are counted, and the last valid ones stay."""
        page = self._controls_page
        if page is None:
            return
        data = page.read(codec.CONTROLS_SIZE)
        if self._abandoned_data is not None:
            if data == self._abandoned_data:
                self.message = None
                return
            self._abandoned_data = None  # a client writes to it: the car has one
        if data == self._data:
            return
        counts = self._pages.counts
        for _ in range(_READ_TRIES):
            again = page.read(codec.CONTROLS_SIZE)
            if again == data:
                break
            data = again
        else:
            counts["torn"] += 1
        self._data = data
        counts["messages_in"] += 1
        counts["bytes_in"] += len(data)
        try:
            message = codec.decode_controls(data)
            gear = self.state.gear or 0
            controls = convert.controls_from_wire(message, gear, self.setting_counters.values)
            if message.teleport_to == convert.TELEPORT_POSE:
                convert.pose_from_wire(message, 0.0)
        except WireError as error:
            counts["rejected"] += 1
            self._say_once("rejection", f"controls of its client are not used, the last good ones stay: {error}")
            return
        before = self.setting_counters.values
        self.setting_counters.count_presses(message)
        if self.setting_counters.values is not before:
            controls = convert.controls_from_wire(message, gear, self.setting_counters.values)
        self.message, self._client_controls, self._client_controls_gear = message, controls, gear
        self._report_ignored(message)

    def _report_ignored(self, message: codec.CarControls) -> None:
        for name in unsupported_requests(message, self.params):
            if self._say_once(name, f"its client asks for {name}, which {self.params.name} has not: ignored"):
                self._pages.ignored_requests.append(f"car {self.index}: {name}")

    def _say_once(self, subject: str, text: str) -> bool:
        """Say the first line about a subject; return whether it was the first."""
        if subject in self._said_subjects:
            return False
        self._said_subjects.add(subject)
        self._say(f"car {self.index}: {text}")
        return True

    # ---- State out ----

    def publish_car(self) -> codec.CarData:
        """Write the car's own page; return its message."""
        if self._car_page is None:  # a client has come back since the last poll
            self.poll_client()
        self._packet_id = (self._packet_id + 1) & _PACKET_ID_MASK
        message = self.build_car_data(self._packet_id)
        if self._car_page is not None:
            self._pages.write_message(self._car_page, codec.encode_car(message))
        return message

    def build_car_data(self, packet_id: int) -> codec.CarData:
        """Return the message of the car's own page."""
        return convert.state_to_wire(self.state, self.params, packet_id, self.trip_log.damage, self.condition.values)

    def publish_public(self) -> None:
        """Write the public page."""
        self._public_id = (self._public_id + 1) & _PACKET_ID_MASK
        self.public = convert.state_to_public(self.state, self.params, self._public_id, self.trip_log.damage)
        if self._public_page is not None:
            self._pages.write_message(self._public_page, codec.encode_public(self.public))

    def close(self) -> None:
        """Remove the host's pages of the car; the client's stays."""
        self.release_client()
        if self._public_page is not None:
            self._public_page.close(remove=True)
        if self._car_page is not None:
            self._car_page.close(remove=True)
            self._car_page = None
