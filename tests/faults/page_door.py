"""The proxy of Assetto Corsa: two folders of shared pages.

Pages of the client (controls, its lock) are hard links, so that the host sees who holds them. The car's page is copied
with its faults, the other pages of the host are links too.
"""

import contextlib
import os
import struct
import time

from faults.doors import Door

PREFIX = "AcTools.CSP.NewBehaviour.CustomAI."
CAR, CONTROLS = f"{PREFIX}Car0.v0", f"{PREFIX}CarControls0.v0"
CAR_PUBLIC = f"{PREFIX}CarPublic0.v0"
CAR_SIZE, CONTROLS_SIZE, PAGE_SIZE = 672, 72, 4096
_LOOK_S = 0.02  # between two looks for new or removed pages


class PageDoor(Door):
    """Links and copies pages, some hundred times a second."""

    def __init__(self, view, folder):
        super().__init__(view)
        self.host_folder, self.client_folder = folder / "host-pages", folder / "client-pages"
        for one in (self.host_folder, self.client_folder):
            one.mkdir()
        self.host_environment = {"TRAILBRAKE_SHM": self.host_folder}
        self.client_environment = {"TRAILBRAKE_SHM": self.client_folder}
        self._car = self._copy = self._controls = None  # descriptors
        self._seen_id, self._seen_controls, self._looked_at = None, b"", 0.0
        self.run(self._copy_pages)

    def read_speed(self):
        """Read the page that the game publishes for all: that of the car stands still without a client."""
        return struct.unpack_from("<f", (self.host_folder / CAR_PUBLIC).read_bytes(), 16)[0] / 3.6

    def _copy_pages(self):
        now = time.monotonic()
        if now - self._looked_at > _LOOK_S:
            self._looked_at = now
            self._link_pages()
        if self._car is not None:
            data = os.pread(self._car, CAR_SIZE, 0)
            if len(data) == CAR_SIZE and data[:4] != self._seen_id:
                again = os.pread(self._car, CAR_SIZE, 0)
                self._seen_id = again[:4]
                self.pass_state(again)
            for state in self.pop_states():
                self._write(state)
        if self._controls is not None:
            data = os.pread(self._controls, CONTROLS_SIZE, 0)
            if len(data) == CONTROLS_SIZE and data != self._seen_controls:
                self._seen_controls = data
            if len(data) == CONTROLS_SIZE:
                self.note_command(data)
        self._over.wait(0.001)

    def _write(self, state):
        if len(state) < CAR_SIZE:  # cut short: what a foreign program may do to the file
            os.ftruncate(self._copy, len(state))
            return
        if os.fstat(self._copy).st_size < PAGE_SIZE:
            os.ftruncate(self._copy, PAGE_SIZE)
        os.pwrite(self._copy, state[4:], 4)
        os.pwrite(self._copy, state[:4], 0)

    def _link_pages(self):
        host, client = (set(os.listdir(one)) for one in (self.host_folder, self.client_folder))
        for name in client - host:
            if "CarControls" in name or "SimState" in name:
                self._link(self.client_folder, self.host_folder, name)
        for name in host - client:
            if "CarControls" in name or "SimState" in name:  # the client has removed it
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.host_folder / name)
            elif name != CAR and not name.endswith(".lock"):
                self._link(self.host_folder, self.client_folder, name)
        for name in client - host:  # the host has removed it
            if name != CAR and "CarControls" not in name and "SimState" not in name and not name.endswith(".lock"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.client_folder / name)
        self._car = self._open(self._car, self.host_folder / CAR)
        if self._car is not None and self._copy is None:
            self._copy = os.open(self.client_folder / CAR, os.O_RDWR | os.O_CREAT, 0o666)
            os.ftruncate(self._copy, PAGE_SIZE)
        self._controls = self._open(self._controls, self.client_folder / CONTROLS)

    @staticmethod
    def _link(source, target, name):
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            os.link(source / name, target / name)

    @staticmethod
    def _open(number, path):
        """Return a descriptor of the file that has the name now: the open one, or a new one; None without a file."""
        try:
            found = os.stat(path).st_ino
        except FileNotFoundError:
            found = None
        if number is not None:
            if os.fstat(number).st_ino == found:
                return number
            os.close(number)
        return os.open(path, os.O_RDONLY) if found is not None else None

    def close(self):
        super().close()
        for number in (self._car, self._copy, self._controls):
            if number is not None:
                os.close(number)
