"""The game's end of the Assetto Corsa wire: publishes a Plant's cars and drives them by the clients' controls.

Source: protocol page assetto-custom-ai, sections 1, 2.5 and 4. Clients are strangers: what they write is
checked, and what they do to the pages that are ours (Car<N>, CarPublic<N>) is overwritten and never read.

A car is taken when CarControls<N> is there, be it before, while or after this host starts. It is given back,
and holds the brake, when that page is gone or the client of our own kind that drove it has died. A stranger
who dies and leaves the page on Linux cannot be told from one who holds his controls still.
"""

import math
import os
from typing import Any

from trailbrake.cars.params import CarParams
from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import Plant
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport.shm import Lock, LockState, Page, SharedMemory

_LOOK_EVERY = 11  # ticks between looks for clients who came or went: 33 ms
_SHIFT_STEPS = 166  # a shift that has not come after 0.5 s is forgotten
_READ_TRIES = 3
_PACKET_ID_MASK = 0x7FFFFFFF


class _Paddles:
    """The gear wanted by paddles: one gear per rising edge, none while a shift is still under way."""

    __slots__ = ("_down", "_left", "_up", "_wish")

    def __init__(self) -> None:
        self._up = self._down = False
        self._wish: int | None = None
        self._left = 0

    def gear(self, message: codec.CarControls, gear: int, top_gear: int) -> int:
        """Return the gear wanted by a car that is in `gear`."""
        up, down = message.gear_up != 0, message.gear_dn != 0
        # Both at once are an up and a down, which is nothing.
        step = (up and not self._up) - (down and not self._down)
        self._up, self._down = up, down
        if self._wish is not None and self._wish != gear and self._left > 0:
            self._left -= 1
            return self._wish
        self._wish = max(-1, min(top_gear, gear + step))
        self._left = _SHIFT_STEPS
        return self._wish

    def forget(self) -> None:
        """Drop a pending shift: the car was put somewhere else, or shifts by itself."""
        self._wish = None


class _Slot:
    """One car: its pages, and what its client wants."""

    def __init__(self, index: int, params: CarParams, state: CarState, public: Page) -> None:
        self.index, self.params, self.state = index, params, state
        self.controls_page: Page | None = None
        self.car_page: Page | None = None
        self.public_page = public
        self.packet_id = self.public_id = 0
        self.data = b""  # newest controls, good or bad
        self.message: codec.CarControls | None = None  # newest good ones
        self.wish: Controls | None = None  # the same as controls of a car in `wish_gear`
        self.wish_gear = 0
        self.paddles = _Paddles()
        self.held = False  # a client of our own kind has been seen behind the controls
        self.left_behind: bytes | None = None  # what a dead client's controls said: nobody's until they change

    @property
    def taken(self) -> bool:
        """Whether a client drives this car."""
        return self.controls_page is not None and self.left_behind is None

    def give_back(self) -> None:
        """Forget the client; the car holds the brake."""
        if self.controls_page is not None:
            self.controls_page.close()
        self.controls_page = self.left_behind = self.message = self.wish = None
        self.data = b""
        self.paddles = _Paddles()
        self.held = False


class Host:
    """Serves the cars of `plant` to any client.

    Args:
        plant: the world; its period must be the game's physics step.
        options: of this simulator; the cars are the plant's.
        doors: a folder of pages that nobody but ours reaches; they are then mapped, see `trailbrake.transport.shm`.
            None = the public names.
    """

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        self._plant = plant
        self._memory = SharedMemory(doors)
        self._mapped = doors is not None
        self._lock: Lock | None = None
        self._slots: list[_Slot] = []
        self._sim_pages: dict[str, Page] = {}
        self._sim = codec.SimState()
        self._ticks = self._steps = self._frames = 0
        self._counts = dict.fromkeys(("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "torn"), 0)

    @property
    def time_scale(self) -> float:
        """How many times faster than real time the clients want it: 1 unless SimState v1 says otherwise.

        0, negative and not finite are 1 (section 2.5). Pacing is the business of whoever calls `tick`.
        """
        scale = self._sim.time_scale
        return scale if math.isfinite(scale) and scale > 0.0 else 1.0

    @property
    def paused(self) -> bool:
        """Whether a client has the simulation paused."""
        return self._sim.pause != 0

    @property
    def taken(self) -> list[bool]:
        """Which cars a client drives."""
        return [slot.taken for slot in self._slots]

    def open(self, now: float) -> None:
        """Take the names and publish every car; SimulatorError if another host has them."""
        if abs(self._plant.period * spec.RATE_HZ - 1.0) > 0.01:
            raise SimulatorError(
                "the world's period is not the game's",
                expected=f"1/{spec.RATE_HZ:g} s",
                got=f"{self._plant.period:g} s",
            )
        self._lock = self._memory.lock(spec.HOST_LOCK)
        if self._lock is None:
            raise SimulatorError(
                "another Assetto Corsa host has these shared-memory names",
                where=self._memory.folder,
                hint="stop it, or set TRAILBRAKE_SHM to a folder of your own",
            )
        try:
            for index, params in enumerate(self._plant.cars):
                public = self._memory.create(spec.public_name(index), mapped=self._mapped)
                self._slots.append(_Slot(index, params, self._plant.state(index), public))
            self._publish_public()
        except BaseException:
            self.close()
            raise

    def tick(self, now: float) -> None:
        """Take the clients' newest controls, step the plant once and publish; nothing of it while paused."""
        if self._ticks % _LOOK_EVERY == 0:
            self._look_for_clients()
        self._ticks += 1
        self._take_sim_state()
        if self._sim.pause:
            return
        self._plant.step([self._controls(slot) for slot in self._slots])
        self._steps += 1
        for slot in self._slots:
            if slot.taken:
                slot.state = self._plant.state(slot.index)
                self._publish(slot)
        frames = int(self._steps * spec.FRAME_RATE_HZ / spec.RATE_HZ)
        if frames != self._frames:
            self._frames = frames
            for slot in self._slots:
                if not slot.taken:
                    slot.state = self._plant.state(slot.index)
            self._publish_public()

    def counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, and the controls that were rejected or read while being written.

        A message in is a change of a controls page.
        """
        return dict(self._counts)

    def close(self) -> None:
        """Close the doors and remove the pages that are ours to publish; those of clients stay."""
        for slot in self._slots:
            slot.give_back()
            slot.public_page.close(remove=True)
            if slot.car_page is not None:
                slot.car_page.close(remove=True)
        for page in self._sim_pages.values():
            page.close()
        self._slots, self._sim_pages = [], {}
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # ---- Clients come and go ----

    def _look_for_clients(self) -> None:
        for name in (spec.SIM_STATE_V0, spec.SIM_STATE_V1):
            page = self._sim_pages.get(name)
            if page is not None and not page.current():
                self._sim_pages.pop(name).close()
                page = None
            if page is None:
                page = self._memory.open(name, mapped=self._mapped)
                if page is not None:
                    self._sim_pages[name] = page
        for slot in self._slots:
            self._look_for_client(slot)

    def _look_for_client(self, slot: _Slot) -> None:
        name = spec.controls_name(slot.index)
        if slot.controls_page is not None and not slot.controls_page.current():
            slot.give_back()
        if slot.controls_page is None:
            slot.controls_page = self._memory.open(name, mapped=self._mapped)
            if slot.controls_page is None:
                return
            # A lock without a holder: its holder was killed before we came, and these are his last controls.
            abandoned = self._memory.lock_state(name) is LockState.ABANDONED
            slot.left_behind = slot.controls_page.read(codec.CONTROLS_SIZE) if abandoned else None
        held = self._memory.lock_state(name) is LockState.HELD
        if held:
            slot.left_behind = None
        elif slot.held:  # the client we saw has died without removing his page
            slot.left_behind = slot.controls_page.read(codec.CONTROLS_SIZE)
        slot.held = held
        if slot.car_page is None and slot.taken:
            # Open or make: a client may have made the page himself (section 1, trap).
            slot.car_page = self._memory.create(spec.car_name(slot.index), mapped=self._mapped)

    # ---- Controls in ----

    def _take_sim_state(self) -> None:
        before, sim = self._sim, codec.SimState()
        try:
            # Both there: nobody has told which one wins in the game; here it is v1.
            if spec.SIM_STATE_V1 in self._sim_pages:
                sim = codec.decode_sim_v1(self._sim_pages[spec.SIM_STATE_V1].read(codec.SIM_V1_SIZE))
            elif spec.SIM_STATE_V0 in self._sim_pages:
                sim = codec.decode_sim_v0(self._sim_pages[spec.SIM_STATE_V0].read(codec.SIM_V0_SIZE))
        except WireError:  # its client has cut the page short
            self._counts["rejected"] += 1
        self._sim = sim
        if sim.restart_session and not before.restart_session:  # edge: a held byte would restart for ever
            for slot in self._slots:
                self._command(slot, SimCommand(restart=True))

    def _command(self, slot: _Slot, command: SimCommand) -> None:
        self._plant.command(slot.index, command)
        slot.paddles.forget()

    def _controls(self, slot: _Slot) -> Controls:
        """Return what car `slot` shall do in this step; carries out its teleport."""
        self._take_controls(slot)
        message = slot.message
        if message is None:
            return Controls(brake=1.0)
        state = slot.state
        if message.teleport_to == convert.TELEPORT_PITS:  # level: again in every step, and never cleared by us
            self._command(slot, SimCommand(to_pits=True))
        elif message.teleport_to == convert.TELEPORT_POSE:
            self._command(slot, SimCommand(teleport=convert.pose_from_wire(message, state.yaw)))
        gear = state.gear or 0
        if slot.wish is None or slot.wish_gear != gear:
            slot.wish, slot.wish_gear = convert.controls_from_wire(message, gear), gear
        if message.autoshift_active:
            slot.paddles.forget()
        else:
            slot.wish.gear = slot.paddles.gear(message, gear, slot.params.gearbox.top_gear)
        return slot.wish

    def _take_controls(self, slot: _Slot) -> None:
        """Make the newest good controls `slot.message`. Bad ones are counted, and the last good ones hold."""
        page = slot.controls_page
        if page is None:
            return
        data = page.read(codec.CONTROLS_SIZE)
        if slot.left_behind is not None:
            if data == slot.left_behind:
                slot.message = None
                return
            slot.left_behind = None  # somebody writes to it: alive after all
        if data == slot.data:
            return
        for _ in range(_READ_TRIES):
            again = page.read(codec.CONTROLS_SIZE)
            if again == data:
                break
            data = again
        else:
            self._counts["torn"] += 1
        slot.data = data
        self._counts["messages_in"] += 1
        self._counts["bytes_in"] += len(data)
        try:
            message = codec.decode_controls(data)
            gear = slot.state.gear or 0
            wish = convert.controls_from_wire(message, gear)
            if message.teleport_to == convert.TELEPORT_POSE:
                convert.pose_from_wire(message, 0.0)
        except WireError:
            self._counts["rejected"] += 1
        else:
            slot.message, slot.wish, slot.wish_gear = message, wish, gear

    # ---- State out ----

    def _publish(self, slot: _Slot) -> None:
        if slot.car_page is None:
            slot.car_page = self._memory.create(spec.car_name(slot.index), mapped=self._mapped)
        slot.packet_id = (slot.packet_id + 1) & _PACKET_ID_MASK
        data = codec.encode_car(convert.state_to_wire(slot.state, slot.params, slot.packet_id))
        self._store(slot.car_page, data)

    def _publish_public(self) -> None:
        for slot in self._slots:
            slot.public_id = (slot.public_id + 1) & _PACKET_ID_MASK
            data = codec.encode_public(convert.state_to_public(slot.state, slot.params, slot.public_id))
            self._store(slot.public_page, data)

    def _store(self, page: Page, data: bytes) -> None:
        # packet_id last: a client who sees it move finds the rest in place.
        page.write(data[codec.PACKET_ID_SIZE :], codec.PACKET_ID_SIZE)
        page.write(data[: codec.PACKET_ID_SIZE])
        self._counts["messages_out"] += 1
        self._counts["bytes_out"] += len(data)
