r"""The half of the Proton bridge inside the prefix: it gives files of Linux the names of Windows sections.

    python.exe windows_bridge.py Z:\dev\shm\trailbrake-bridge

A script for any Windows Python from 3.8 on: it imports only the standard library, so that it needs no installation
there. The Linux side (`page_bindings.py`) decides which page is bound when; this script executes its orders and
reports the outcome. Both sides map the *board*, a file: a header, then one entry for each line of the file `pages`,
which lists the size and the name of each page. An order other than 0 requests the section of that name over the file
of that name beside the board; another number requests it anew, 0 releases it.

Source: protocol page assetto-custom-ai, section 9. A section is visible inside the prefix only, and disappears with
its last handle.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from pathlib import Path
from typing import BinaryIO

PAGES, BOARD = "pages", "board"
BOARD_SIZE = 8192
# Offsets of little-endian unsigned words. Header: heartbeat of the bridge, heartbeat of the Linux side, 1 = end.
HEARTBEAT, WATCHER_HEARTBEAT, STOP = 0, 4, 8
HEADER_SIZE, ENTRY_SIZE = 16, 20
# In an entry: the order, the last executed order, the state after it, the number of other holders, the error number.
ORDER, DONE, STATE, HOLDERS, ERROR = 0, 4, 8, 12, 16
BOUND, TAKEN, FAILED = 1, 2, 3  # states; TAKEN: the name belongs to a section over another file
POLL_S = 0.01  # between reads of the orders
COUNT_EVERY = 5  # polls between counts of a section's holders, which cost more than a poll
WATCHER_TIMEOUT_S = 5.0  # the bridge ends when the Linux side's heartbeat has stood still for so long
TOKEN = b"trailbr8"  # written to a page's end, which no message reaches, to test whether it appears in the file

WORD = struct.Struct("<I")


def entry_offset(index: int, field: int) -> int:
    """Return the offset (bytes) on the board of `field` of page `index`."""
    return HEADER_SIZE + ENTRY_SIZE * index + field


def parse_pages(text: str) -> list[tuple[str, int]]:
    """Return the name and the size in bytes of each page that the file `pages` lists."""
    return [(name, int(size)) for size, name in (line.split(" ", 1) for line in text.splitlines())]


if sys.platform == "win32":
    import ctypes
    import msvcrt

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateFileMappingW.restype = ctypes.c_void_p
    _kernel32.CreateFileMappingW.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_wchar_p
    )  # fmt: skip
    _kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
    _ntdll = ctypes.WinDLL("ntdll")
    _ntdll.NtQueryObject.argtypes = (
        ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    )  # fmt: skip
    _PAGE_READWRITE, _ERROR_ALREADY_EXISTS = 4, 183

    def bind_section(path: Path, name: str, size: int) -> tuple[int, int]:
        """Create the section `name` over the file at `path`; return (its handle or 0, an error number or 0)."""
        with open(path, "r+b") as file:
            handle: int = _kernel32.CreateFileMappingW(
                msvcrt.get_osfhandle(file.fileno()), None, _PAGE_READWRITE, 0, size, name
            )
            error = ctypes.get_last_error()
            if not handle:
                return 0, error or 1
            if error == _ERROR_ALREADY_EXISTS and not _is_section_of(file, name, size):
                _kernel32.CloseHandle(handle)
                return 0, _ERROR_ALREADY_EXISTS
        return handle, 0

    def _is_section_of(file: BinaryIO, name: str, size: int) -> bool:
        """Return whether the existing section `name` is over this file: an earlier bridge created it."""
        try:
            view = mmap.mmap(-1, size, tagname=name)
        except OSError:  # smaller than ours
            return False
        with view:
            view[size - len(TOKEN) :] = TOKEN
            file.seek(size - len(TOKEN))
            same = file.read(len(TOKEN)) == TOKEN
            view[size - len(TOKEN) :] = bytes(len(TOKEN))
        return bool(same)

    def count_holders(handle: int) -> int:
        """Return how many handles of other owners lead to the section."""
        basic = (ctypes.c_uint32 * 14)()  # PUBLIC_OBJECT_BASIC_INFORMATION; the third is HandleCount
        failed = _ntdll.NtQueryObject(handle, 0, basic, ctypes.sizeof(basic), None)
        return 0 if failed else max(0, basic[2] - 1)

    class BoundPage:
        """One page of the list, and the outcome of its orders."""

        def __init__(self, board: mmap.mmap, index: int, folder: Path, name: str, size: int) -> None:
            self._board, self._index = board, index
            self._path, self._name, self._size = folder / name, name, size
            self._handle = self._order = 0
            for field in (DONE, STATE, HOLDERS, ERROR):  # an earlier bridge's; DONE first: it marks the others valid
                self._write_word(field, 0)

        def _write_word(self, field: int, value: int) -> None:
            WORD.pack_into(self._board, entry_offset(self._index, field), value)

        def execute_order(self) -> None:
            """Execute the order if it is new."""
            order = WORD.unpack_from(self._board, entry_offset(self._index, ORDER))[0]
            if order == self._order:
                return
            self._order, error = order, 0
            if self._handle:
                _kernel32.CloseHandle(self._handle)
                self._handle = 0
            if order:
                try:
                    self._handle, error = bind_section(self._path, self._name, self._size)
                except OSError as failure:
                    error = failure.errno or 1
            state = BOUND if self._handle else TAKEN if error == _ERROR_ALREADY_EXISTS else FAILED
            self._write_word(ERROR, error)
            self._write_word(HOLDERS, count_holders(self._handle) if self._handle else 0)
            self._write_word(STATE, state if order else 0)
            self._write_word(DONE, order)

        def report_holders(self) -> None:
            """Write to the board how many other handles lead to the section."""
            if self._handle:
                self._write_word(HOLDERS, count_holders(self._handle))

    def main(folder: Path) -> None:
        """Execute orders until the board says stop, or until the Linux side's heartbeat stops."""
        with open(folder / BOARD, "r+b") as file:
            board = mmap.mmap(file.fileno(), BOARD_SIZE)
        pages = parse_pages((folder / PAGES).read_text(encoding="utf-8"))
        bound_pages = [BoundPage(board, index, folder, name, size) for index, (name, size) in enumerate(pages)]
        polls, heartbeat, heartbeat_at = 0, 0, time.monotonic()
        while not WORD.unpack_from(board, STOP)[0]:
            polls = (polls + 1) & 0x7FFFFFFF
            WORD.pack_into(board, HEARTBEAT, polls)
            watcher_heartbeat = WORD.unpack_from(board, WATCHER_HEARTBEAT)[0]
            if watcher_heartbeat != heartbeat:
                heartbeat, heartbeat_at = watcher_heartbeat, time.monotonic()
            elif time.monotonic() - heartbeat_at > WATCHER_TIMEOUT_S:
                break
            for page in bound_pages:
                page.execute_order()
                if polls % COUNT_EVERY == 0:
                    page.report_holders()
            time.sleep(POLL_S)

    if __name__ == "__main__":
        main(Path(sys.argv[1]))
