from trailbrake.storage.mirrored_files import (
    STATE_FILE,
    MirroredFolder,
    digest_file,
    read_state,
    stamp_files,
    write_state,
)  # fmt: skip


def test_finished_files_of_the_parts_are_stamped(tmp_path):
    for name in ("a/one", "a/one.part", "a/x.part/two", "b/three", "top", f"a/{STATE_FILE}", "a/log-journal"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("12")
    (tmp_path / "a" / "link").symlink_to(tmp_path / "top")
    stamps = stamp_files(MirroredFolder(folder=tmp_path, url="", parts=("a", "top", "none")))
    assert {name: size for name, (_, size) in stamps.items()} == {"a/one": 2, "top": 2}


def test_the_state_is_that_of_one_address(tmp_path):
    mirrored = MirroredFolder(folder=tmp_path, url="memory://a")
    assert read_state(mirrored) == ""
    write_state(mirrored, "digest")
    assert read_state(mirrored) == "digest"
    assert read_state(MirroredFolder(folder=tmp_path, url="memory://b")) == ""
    (tmp_path / STATE_FILE).write_text('{"url": "memory://a", "prim')
    assert read_state(mirrored) == ""


def test_a_file_that_only_looks_like_a_database_has_a_digest(tmp_path):
    (tmp_path / "x").write_bytes(b"SQLite format 3\0 and nothing else")
    assert len(digest_file(tmp_path / "x")) == 64
    assert digest_file(tmp_path / "none") == ""
