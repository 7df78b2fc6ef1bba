"""One car of the host: its pages, the client behind them, and what that client wants.

Source: protocol page assetto-custom-ai, sections 1, 2 and 4. A car is taken when CarControls<N> is there, be it before,
while or after the host starts. It is given back when that page is gone, or when nobody holds it open any more who was
seen to: a client that was killed leaves the page behind on Linux. Controls left behind are nobody's until they change.
"""

from collections.abc import Callable

from trailbrake.cars.params import CarParams
from trailbrake.errors import WireError
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.logbook import Logbook
from trailbrake.sims.assetto.paddles import Dials, Gears, missing
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport.shm import LockState, Page, SharedMemory

_READ_TRIES = 3
_PACKET_ID_MASK = 0x7FFFFFFF


class Counts:
    """What went over the wire: `number` of messages, bytes and mishaps, and what clients asked for in `ignored`."""

    def __init__(self) -> None:
        self.number = dict.fromkeys(("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "torn"), 0)
        self.ignored: list[str] = []

    def store(self, page: Page, data: bytes) -> None:
        """Write a message that begins with its packet_id, that last: who sees it move finds the rest in place."""
        page.write(data[codec.PACKET_ID_SIZE :], codec.PACKET_ID_SIZE)
        page.write(data[: codec.PACKET_ID_SIZE])
        self.number["messages_out"] += 1
        self.number["bytes_out"] += len(data)


class Slot:
    """One car.

    Args:
        index: its number; 0 is the player's.
        params: the car.
        state: as it stands now.
        memory: where the pages are.
        mapped: whether to map them, see `trailbrake.transport.shm`.
        counts: shared by all cars.
        say: takes a line for whoever runs the host.

    Attributes:
        state: newest; kept up by the host.
        message: newest good controls of the client, None without one.
        logbook: laps and damage; kept up by the host.
        in_pits: whether the car stands where it was put by a way to the pits.
    """

    def __init__(
        self,
        index: int,
        params: CarParams,
        state: CarState,
        memory: SharedMemory,
        mapped: bool,
        counts: Counts,
        say: Callable[[str], None],
    ) -> None:
        self.index, self.params, self.state = index, params, state
        self.logbook, self.dials = Logbook(), Dials(params)
        self.in_pits = False
        self.message: codec.CarControls | None = None
        self.public = codec.CarPublic()
        self._memory, self._mapped, self._counts, self._say = memory, mapped, counts, say
        self._public_page = memory.create(spec.public_name(index), mapped=mapped)
        self._controls_page: Page | None = None
        self._car_page: Page | None = None
        self._packet_id = self._public_id = 0
        self._data = b""  # newest controls, good or bad
        self._wish: Controls | None = None  # `message` as controls of a car in `_wish_gear`
        self._wish_gear = 0
        self._gears = Gears()
        self._held = False  # somebody has been seen to hold the controls page
        self._left_behind: bytes | None = None  # what it said when he was gone
        self._told: set[str] = set()

    @property
    def taken(self) -> bool:
        """Whether a client drives this car."""
        return self._controls_page is not None and self._left_behind is None

    # ---- Clients come and go ----

    def look(self) -> None:
        """Look whether a client has come or gone. Costs a few file calls: not for every step."""
        name = spec.controls_name(self.index)
        if self._controls_page is not None and not self._controls_page.current():
            self.give_back()
        if self._controls_page is None:
            self._controls_page = self._memory.watch(name, mapped=self._mapped)
            if self._controls_page is None:
                return
            # A lock without a holder: its holder was killed before we came, and these are his last controls.
            if self._memory.lock_state(name) is LockState.ABANDONED:
                self._left_behind = self._controls_page.read(codec.CONTROLS_SIZE)
        held = self._memory.lock_state(name) is LockState.HELD or self._controls_page.held_by_others() is True
        if held:
            self._left_behind = None
        elif self._held:
            self._left_behind = self._controls_page.read(codec.CONTROLS_SIZE)
            self._forget_client()
            self._say(f"car {self.index}: its client is gone without a word; the car is taken from it")
        self._held = held
        if self._car_page is None and self.taken:
            # Open or make: a client may have made the page himself (section 1, trap).
            self._car_page = self._memory.create(spec.car_name(self.index), mapped=self._mapped)

    def give_back(self) -> None:
        """Let go of the client's page and forget the client."""
        if self._controls_page is not None:
            self._controls_page.close()
        self._controls_page = self._left_behind = None
        self._held = False
        self._forget_client()

    def _forget_client(self) -> None:
        self.message = self._wish = None
        self._data = b""  # the next client may say the same to the bit
        self._gears, self.dials = Gears(), Dials(self.params)

    # ---- Controls in ----

    def take(self) -> SimCommand | None:
        """Read the newest controls; return what they command beside driving: a teleport, in each step anew."""
        self._read()
        message = self.message
        if message is None or message.teleport_to == convert.TELEPORT_NONE:
            return None
        if message.teleport_to == convert.TELEPORT_PITS:  # level: again in every step, and never cleared by us
            return SimCommand(to_pits=True)
        if message.teleport_to == convert.TELEPORT_POSE:
            return SimCommand(teleport=convert.pose_from_wire(message, self.state.yaw))
        return None

    def controls(self) -> Controls | None:
        """Return what the client wants of the car in this step; None without a client. To be called once per step."""
        message = self.message
        if message is None:
            return None
        gear = self.state.gear or 0
        if self._wish is None or self._wish_gear != gear:
            self._wish, self._wish_gear = convert.controls_from_wire(message, gear, self.dials.values), gear
        if message.autoshift_active:
            self._gears.forget()
        else:
            self._wish.gear = self._gears.gear(message, gear, self.params.gearbox.top_gear)
        return self._wish

    def moved(self, *, repaired: bool) -> None:
        """Take note that the car was put somewhere else by a command."""
        self._gears.forget()
        self.logbook.jump(repaired=repaired)
        self.in_pits = repaired

    def restarted(self) -> None:
        """Take note that the session began anew."""
        self._gears, self.dials, self.logbook = Gears(), Dials(self.params), Logbook()
        self._wish = None
        self.in_pits = False

    def _read(self) -> None:
        """Make the newest good controls `message`. Bad ones are counted, and the last good ones hold."""
        page = self._controls_page
        if page is None:
            return
        data = page.read(codec.CONTROLS_SIZE)
        if self._left_behind is not None:
            if data == self._left_behind:
                self.message = None
                return
            self._left_behind = None  # somebody writes to it: alive after all
        if data == self._data:
            return
        counts = self._counts.number
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
            wish = convert.controls_from_wire(message, gear, self.dials.values)
            if message.teleport_to == convert.TELEPORT_POSE:
                convert.pose_from_wire(message, 0.0)
        except WireError:
            counts["rejected"] += 1
            return
        before = self.dials.values
        self.dials.turn(message)
        if self.dials.values is not before:
            wish = convert.controls_from_wire(message, gear, self.dials.values)
        self.message, self._wish, self._wish_gear = message, wish, gear
        self._tell_ignored(message)

    def _tell_ignored(self, message: codec.CarControls) -> None:
        for name in missing(message, self.params):
            if name not in self._told:
                self._told.add(name)
                self._counts.ignored.append(f"car {self.index}: {name}")
                self._say(f"car {self.index}: its client asks for {name}, which {self.params.name} has not: ignored")

    # ---- State out ----

    def publish(self) -> codec.CarData:
        """Write the car's own page; return what it says."""
        if self._car_page is None:
            self._car_page = self._memory.create(spec.car_name(self.index), mapped=self._mapped)
        self._packet_id = (self._packet_id + 1) & _PACKET_ID_MASK
        message = self.as_car(self._packet_id)
        self._counts.store(self._car_page, codec.encode_car(message))
        return message

    def as_car(self, packet_id: int) -> codec.CarData:
        """Return the car as its own page would show it."""
        return convert.state_to_wire(self.state, self.params, packet_id, self.logbook.damage)

    def publish_public(self) -> None:
        """Write the page that everybody may read."""
        self._public_id = (self._public_id + 1) & _PACKET_ID_MASK
        self.public = convert.state_to_public(self.state, self.params, self._public_id, self.logbook.damage)
        self._counts.store(self._public_page, codec.encode_public(self.public))

    def close(self) -> None:
        """Give the car back and remove the pages that are ours; the client's stays."""
        self.give_back()
        self._public_page.close(remove=True)
        if self._car_page is not None:
            self._car_page.close(remove=True)
            self._car_page = None
