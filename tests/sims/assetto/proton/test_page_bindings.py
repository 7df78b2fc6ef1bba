"""The bridge's Linux side, in front of a bridge that is made here and carries out its orders on paper."""

import sys

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.proton import page_bindings, windows_bridge
from trailbrake.transport.shm import LockState, SharedMemory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bridge's Linux side")

CAR, CONTROLS, SIM = spec.car_name(0), spec.controls_name(0), spec.SIM_STATE_V1


class Paper:
    """Executes the orders on the board as `windows_bridge.py` documents; `tied`: name -> inode."""

    def __init__(self, folder):
        self.folder = folder / "trailbrake-bridge"
        self.names = [line.split(" ", 1)[1] for line in (self.folder / "pages").read_text().splitlines()]
        self.tied, self.taken, self.done = {}, set(), {}

    def look(self, **holders):
        path = self.folder / "board"
        board = bytearray(path.read_bytes())

        def words(index):
            at = 16 + 20 * index
            return [int.from_bytes(board[at + 4 * k : at + 4 * k + 4], "little") for k in range(5)]

        out = {}
        for index, name in enumerate(self.names):
            order = words(index)[0]
            if order != self.done.get(name, 0):
                self.done[name] = order
                self.tied.pop(name, None)
                if order and name not in self.taken:
                    self.tied[name] = (self.folder / name).stat().st_ino
            state = 1 if name in self.tied else 2 if order else 0
            out[index] = (
                order,
                state,
                holders.get(name.split(".")[-2] if "." in name else name, 0),
                183 * (state == 2),
            )
        with path.open("r+b") as file:  # in place: it is mapped
            for index, values in out.items():
                file.seek(16 + 20 * index + 4)
                file.write(b"".join(value.to_bytes(4, "little") for value in values))
            file.seek(0)
            file.write((int.from_bytes(board[:4], "little") + 1).to_bytes(4, "little"))


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    bindings = []

    def make(*, clients):
        said = []
        opened = page_bindings.PageBindings(page_bindings.list_bridged_pages(1, clients=clients), said.append)
        opened.open()
        bindings.append(opened)
        return opened, Paper(tmp_path), said

    yield make
    for opened in bindings:
        opened.close()


def test_what_merely_tells_is_there_before_the_game(made, tmp_path):
    bindings, paper, said = made(clients=False)
    paper.look()
    bindings.poll_changes()
    assert bindings.all_settled
    assert sorted(paper.tied) == sorted(["acpmf_physics", "acpmf_graphics", "acpmf_static", CAR, spec.public_name(0)])
    assert paper.tied[CAR] == (tmp_path / CAR).stat().st_ino
    assert (tmp_path / CAR).read_bytes() == bytes(4096)
    assert not (tmp_path / CONTROLS).exists()  # it would take the car
    assert said == []


def test_what_asks_is_tied_when_it_is_asked(made, tmp_path):
    bindings, paper, _ = made(clients=False)
    paper.look()
    for wanted in (True, False, True):
        if wanted:
            (tmp_path / CONTROLS).write_bytes(b"x" * 72)
        else:
            (tmp_path / CONTROLS).unlink()
        bindings.poll_changes()
        assert not bindings.all_settled
        paper.look()
        assert (CONTROLS in paper.tied) is wanted
    first = paper.tied[CONTROLS]
    (tmp_path / CONTROLS).rename(tmp_path / "old")
    (tmp_path / CONTROLS).write_bytes(b"y" * 72)  # another file of the same name between two looks
    bindings.poll_changes()
    paper.look()
    assert paper.tied[CONTROLS] == (tmp_path / CONTROLS).stat().st_ino != first
    bindings.close()
    assert (tmp_path / CONTROLS).read_bytes() == b"y" * 72  # a client's is left alone
    assert not (tmp_path / CAR).exists()


def test_a_page_that_a_host_removes_comes_back_as_the_same_file(made, tmp_path):
    bindings, paper, said = made(clients=True)
    paper.look()
    before = (tmp_path / CAR).stat().st_ino
    (tmp_path / CAR).unlink()
    bindings.poll_changes()
    assert (tmp_path / CAR).stat().st_ino == before
    assert said == []
    (tmp_path / CAR).rename(tmp_path / "old")
    (tmp_path / CAR).write_bytes(bytes(4096))
    bindings.poll_changes()
    paper.look()
    assert said == [f"{CAR}: made anew on this side; who has it open in the prefix must open it again"]
    assert paper.tied[CAR] == (tmp_path / CAR).stat().st_ino != before


def test_what_is_offered_shows_when_somebody_has_it(made, tmp_path):
    bindings, paper, said = made(clients=True)
    paper.look()
    bindings.poll_changes()
    assert CONTROLS in paper.tied
    assert not (tmp_path / CONTROLS).exists()
    paper.look(CarControls0=1)
    bindings.poll_changes()
    assert said == [f"{CONTROLS}: a program in the prefix has it"]
    assert (tmp_path / CONTROLS).stat().st_ino == paper.tied[CONTROLS]
    with (tmp_path / CONTROLS).open("r+b") as file:
        file.write(codec.encode_controls(codec.CarControls(gas=1.0)))
    # A new bridge has not counted yet: that is no client that has gone.
    paper.done.clear()
    board = tmp_path / "trailbrake-bridge" / "board"
    with board.open("r+b") as file:
        for index in range(len(paper.names)):
            file.seek(windows_bridge.entry_offset(index, windows_bridge.DONE))
            file.write(bytes(12))
    bindings.poll_changes()
    assert (tmp_path / CONTROLS).exists()
    paper.look(CarControls0=1)
    bindings.poll_changes()
    paper.look()
    bindings.poll_changes()
    assert not (tmp_path / CONTROLS).exists()
    assert said[1:] == [f"{CONTROLS}: the program in the prefix that had it is gone"]
    paper.look(CarControls0=2)
    bindings.poll_changes()
    assert (tmp_path / CONTROLS).read_bytes() == bytes(4096)  # the next one finds nothing of the last


def test_a_client_of_linux_is_not_covered_by_an_offer(made, tmp_path):
    bindings, paper, _ = made(clients=True)
    (tmp_path / CONTROLS).write_bytes(b"linux")
    paper.look(CarControls0=1)
    bindings.poll_changes()
    assert (tmp_path / CONTROLS).read_bytes() == b"linux"
    paper.look()
    bindings.poll_changes()
    assert (tmp_path / CONTROLS).read_bytes() == b"linux"


def test_a_game_that_was_there_first_is_said_once(made, tmp_path):
    bindings, paper, said = made(clients=False)
    paper.taken = {"acpmf_physics"}
    for _ in range(3):
        paper.look()
        bindings.poll_changes()
    why = "the game has made its own before: end it, and start it again while the bridge runs"
    assert said == [f"acpmf_physics: {why}"]
    seen = page_bindings.read_bridge_snapshot(SharedMemory())
    assert seen == page_bindings.BridgeSnapshot(LockState.HELD, 3, 4, (("acpmf_physics", why),))
    # The game ends, as it was told to, and its section with it: the bridge, left running, has the page before the next.
    for _ in range(3 * page_bindings.RETRY_POLLS):
        paper.look()
        bindings.poll_changes()
    assert len(said) == 1  # the game is still there, and that has been said
    paper.taken.clear()
    for _ in range(2 * page_bindings.RETRY_POLLS):
        paper.look()
        bindings.poll_changes()
    assert said[1:] == ["acpmf_physics: tied now"]
    assert paper.tied["acpmf_physics"] == (tmp_path / "acpmf_physics").stat().st_ino


@pytest.mark.parametrize("clients", [False, True])
def test_after_a_kill_the_same_files_go_on(made, tmp_path, clients):
    killed, paper, _ = made(clients=clients)
    (tmp_path / SIM).write_bytes(b"")  # of a client of Linux
    paper.look(CarControls0=1)
    killed.poll_changes()
    paper.look(CarControls0=1)
    killed.poll_changes()
    before = dict(paper.tied)
    killed._lock.close()  # what the system does for the dead
    bindings, paper, said = made(clients=clients)
    for _ in range(2):
        paper.look(CarControls0=1)
        bindings.poll_changes()
    paper.look(CarControls0=1)
    assert {name: paper.tied[name] for name in before} == before
    assert said == []
    assert (tmp_path / CONTROLS).exists() is clients
    killed._lock = None
    killed.bindings = []


def test_one_bridge_at_a_time_and_nothing_left(made, tmp_path):
    bindings, _, _ = made(clients=False)
    with pytest.raises(SimulatorError, match=f"{tmp_path}: another bridge has these names; stop that one"):
        made(clients=False)
    bindings.poll_changes()
    bindings.close()
    bindings.close()
    assert list(tmp_path.iterdir()) == []
    assert page_bindings.read_bridge_snapshot(SharedMemory()) == page_bindings.BridgeSnapshot(LockState.FREE)


def test_a_folder_that_is_another_s_is_not_touched(made, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "trailbrake-bridge").symlink_to(elsewhere)
    with pytest.raises(SimulatorError, match="trailbrake-bridge: somebody else's folder is in the way"):
        made(clients=False)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("junk", [b"", b"x", b"no number\n", b"4096 a\n" * 1000])
def test_a_look_at_junk_is_no_bridge(tmp_path, junk):
    folder = tmp_path / "trailbrake-bridge"
    folder.mkdir()
    (folder / "pages").write_bytes(junk)
    (folder / "board").write_bytes(bytes(100))
    assert page_bindings.read_bridge_snapshot(SharedMemory(tmp_path)).bound_count == 0


def test_debug_lines_fill_their_page_and_leave_room_for_the_token(made):
    sizes = {page.name: page.size for page in page_bindings.list_bridged_pages(1, clients=False)}
    assert sizes[spec.DEBUG_LINES] >= codec.DEBUG_SIZE + len(windows_bridge.TOKEN)
    assert sizes[SIM] == 4096
