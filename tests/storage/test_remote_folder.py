import builtins
import re

import pytest

pytest.importorskip("fsspec")
import fsspec

from trailbrake.errors import UsageError
from trailbrake.storage.remote_folder import PART, RemoteFolder


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return RemoteFolder(f"memory://{tmp_path.name}-{request.param}/run" if request.param == "memory" else str(tmp_path))


def test_files_come_back_as_they_were_sent(store, tmp_path_factory):
    here = tmp_path_factory.mktemp("here")
    (here / "one.bin").write_bytes(b"first")
    store.send_file(here / "one.bin", "below/one.bin")
    key = store.read_key("below/one.bin")
    assert store.list_files() == {"below/one.bin": 5}
    assert store.read_key("below/one.bin") == key
    (here / "one.bin").write_bytes(b"second")
    store.send_file(here / "one.bin", "below/one.bin")
    assert store.read_key("below/one.bin") != key
    store.fetch_file("below/one.bin", here / "new" / "back.bin", 6)
    assert (here / "new" / "back.bin").read_bytes() == b"second"
    assert store.read_key("nothing.bin") == ""


def test_a_file_that_cannot_be_sent_leaves_the_old_one_and_no_part(store, tmp_path_factory, monkeypatch):
    here = tmp_path_factory.mktemp("here") / "one.bin"
    here.write_bytes(b"first")
    store.send_file(here, "one.bin")

    def send_half(source, target, **options):
        store._filesystem.pipe_file(target, b"fi")
        raise ConnectionResetError("the line is gone")

    monkeypatch.setattr(store._filesystem, "put_file", send_half)
    here.write_bytes(b"second")
    with pytest.raises(UsageError, match="cannot write to the mirror, got the line is gone"):
        store.send_file(here, "one.bin")
    monkeypatch.undo()
    assert store.list_files() == {"one.bin": 5}
    assert not [path for path in store._filesystem.find(store._root) if path.endswith(PART)]


def test_a_truncated_file_is_one_line(store, tmp_path_factory):
    here = tmp_path_factory.mktemp("here") / "one.bin"
    here.write_bytes(b"first")
    store.send_file(here, "one.bin")
    with pytest.raises(UsageError, match="did not arrive whole, expected 9 bytes, got 5"):
        store.fetch_file("one.bin", here.with_name("back"), 9)


def test_names_that_lead_out_of_the_folder_are_not_listed(monkeypatch):
    store = RemoteFolder("memory://names/run")
    names = ["../up", "a/../../up", "C:/up", "a\\..\\up", "good/one"]
    found = {f"{store._root}/{name}": {"size": 1} for name in names}
    monkeypatch.setattr(store._filesystem, "find", lambda *_, **__: found)
    assert store.list_files() == {"good/one": 1}


def test_a_store_may_be_inside_of_a_folder_only_if_it_is_one_here(tmp_path):
    assert RemoteFolder(str(tmp_path / "copy")).is_inside(tmp_path)
    assert not RemoteFolder(str(tmp_path)).is_inside(tmp_path / "run")
    assert not RemoteFolder("memory://tmp").is_inside(tmp_path)


@pytest.mark.parametrize(("url", "line"), [
    ("nosuch://a", "nosuch://a: cannot use the mirror, got Protocol not known: nosuch"),
    ("", "--mirror: no folder or URL"),
])  # fmt: skip
def test_addresses_that_are_none_are_one_line(url, line):
    with pytest.raises(UsageError, match=re.escape(line)) as caught:
        RemoteFolder(url)
    assert "\n" not in str(caught.value)


def test_a_folder_that_may_not_be_written_is_one_line(tmp_path, monkeypatch):
    store = RemoteFolder(str(tmp_path))

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store._filesystem, "pipe_file", refuse)
    with pytest.raises(UsageError, match="cannot write to the mirror, got Permission denied; credentials"):
        store.check_writable()


def test_missing_packages_are_named(monkeypatch):
    def import_nothing(name, *arguments):
        if name in ("fsspec", "s3fs"):
            raise ImportError(f"No module named {name}")
        return imported(name, *arguments)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", import_nothing)
    with pytest.raises(UsageError, match=r"fsspec is missing.*pip install"):
        RemoteFolder("s3://bucket/run")
    monkeypatch.undo()

    def need_package(*_, **__):
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec, "url_to_fs", need_package)
    with pytest.raises(UsageError, match=r"package for this kind of storage is missing, got Install s3fs.*pip install"):
        RemoteFolder("s3://bucket/run")
