import pytest

pytest.importorskip("fsspec")
from trailbrake.errors import UsageError
from trailbrake.storage import change_sender
from trailbrake.storage.change_sender import RESEND_S, ChangeSender
from trailbrake.storage.mirrored_files import MirroredFolder
from trailbrake.storage.remote_folder import RemoteFolder


@pytest.fixture
def clock(monkeypatch):
    times = [1000.0]
    monkeypatch.setattr(change_sender.steady_clock, "now", lambda: times[-1])
    return times


@pytest.fixture
def store(tmp_path):
    return RemoteFolder(f"memory://senders/{tmp_path.name}")


def make_sender(folder, store, **more):
    return ChangeSender(MirroredFolder(folder=folder, url=store.url, **more), store, "", lambda text: None)


def test_a_file_is_sent_when_it_is_at_rest_and_one_that_grows_once_a_minute(tmp_path, store, clock):
    sender = make_sender(tmp_path, store)
    (tmp_path / "still").write_text("1")
    growing = (tmp_path / "growing").open("a")
    growing.write("1")
    growing.flush()
    sender.send_changes(is_last=False)  # new files go at once
    assert store.list_files() == {"still": 1, "growing": 1}
    for scan in range(1, 4):
        clock.append(1000.0 + 5.0 * scan)
        growing.write("1")
        growing.flush()
        sender.send_changes(is_last=False)
    assert store.list_files()["growing"] == 1
    clock.append(1000.0 + RESEND_S)
    growing.write("1")
    growing.flush()
    sender.send_changes(is_last=False)
    assert store.list_files()["growing"] == 5
    growing.write("1")
    growing.close()
    sender.send_changes(is_last=False)
    sender.send_changes(is_last=False)  # at rest since the last look
    assert store.list_files()["growing"] == 6


def test_what_the_store_has_is_not_sent_again(tmp_path, store, clock, monkeypatch):
    (tmp_path / "cell").write_text("1")
    make_sender(tmp_path, store).send_changes(is_last=True)
    sent = []
    monkeypatch.setattr(RemoteFolder, "send_file", lambda self, source, name: sent.append(name))
    (tmp_path / "new").write_text("2")
    make_sender(tmp_path, store).send_changes(is_last=True)
    assert sent == ["new"]
    sent.clear()
    make_sender(tmp_path, store, primary="state").send_changes(is_last=True)  # there files change: sizes say too little
    assert sorted(sent) == ["cell", "new"]


def test_two_commands_that_write_the_same_mirror_are_noticed(tmp_path, store, clock):
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
        (folder / "state").write_text(folder.name)
    senders = [make_sender(folder, store, primary="state") for folder in folders]
    for sender in senders:
        sender.send_changes(is_last=True)
    (folders[0] / "state").write_text("a goes on")
    with pytest.raises(UsageError, match="another command writes the same mirror"):
        senders[0].send_changes(is_last=True)


def test_a_fault_of_ours_is_an_error_at_the_end(tmp_path, store, monkeypatch):
    sender = make_sender(tmp_path, store)
    monkeypatch.setattr(sender, "send_changes", lambda is_last: 1 / 0)
    sender.start()
    sender.finish()
    assert sender.error == "ZeroDivisionError: division by zero"
