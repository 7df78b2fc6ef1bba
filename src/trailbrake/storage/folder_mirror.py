"""`mirror_folder`: keeps a copy of a folder's files on shared storage, and begins from that copy on another machine.

The folder here stays the one that is worked in. Whatever the store does, it is whole.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trailbrake.errors import DataError, UsageError, describe_os_error
from trailbrake.storage.change_sender import ChangeSender
from trailbrake.storage.mirrored_files import STATE_FILE, MirroredFolder, digest_file, read_state, write_state
from trailbrake.storage.remote_folder import PART, RemoteFolder


@contextmanager
def mirror_folder(mirrored: MirroredFolder, say: Callable[[str], None]) -> Iterator[None]:
    """Fetch what the copy has and the folder has not; then copy what changes in the folder, until the block ends.

    Files are copied by a thread, so that a slow store costs no time. A store that fails meanwhile is said once, and
    tried again.

    Args:
        mirrored: the folder, and where its copy is.
        say: takes lines for the user.

    Raises:
        UsageError: before the block, the store cannot be used, or both have changed; after it, the last copies failed.
            The folder stays as it is.
        DataError: the primary file of the copy is damaged.
    """
    if not mirrored.url:
        yield
        return
    store = RemoteFolder(mirrored.url)
    if store.is_inside(mirrored.folder):
        raise UsageError("the mirror is inside the folder that it is a copy of", where=mirrored.url,
                         got=str(mirrored.folder))  # fmt: skip
    synced = fetch_changes(mirrored, store, say)
    store.check_writable()
    sender = ChangeSender(mirrored, store, synced, say)
    sender.start()
    try:
        yield
    except BaseException:
        sender.finish()
        if sender.error:
            say(sender.error)
        raise
    sender.finish()
    if sender.error:
        raise UsageError(f"the mirror is not complete: {sender.error}", where=mirrored.url,
                         hint=f"{mirrored.folder} is whole; the same command sends what is missing")  # fmt: skip


def fetch_changes(mirrored: MirroredFolder, store: RemoteFolder, say: Callable[[str], None]) -> str:
    """Fetch what a store has and the folder has not, and return the digest of the primary file in the store.

    Where the primary file has changed there and not here, all that is fetched replaces what is here.

    Args:
        mirrored: the folder.
        store: where its copy is.
        say: takes lines for the user.

    Raises:
        UsageError: the store or the disk refuses, or the primary file has changed both here and there.
        DataError: the primary file of the copy is damaged.
    """
    folder, primary, there = mirrored.folder, mirrored.primary, store.list_files()
    theirs, replaces = "", False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".mirror-", suffix=PART, dir=folder) as name:
            draft = Path(name)
            if primary in there:
                store.fetch_file(primary, draft / primary, there[primary])
                theirs, replaces = digest_file(draft / primary), _is_ahead(mirrored, draft / primary)
            names = [
                name for name in there
                if name not in (primary, STATE_FILE) and mirrored.is_fetched(name)
                and (replaces or not (folder / name).exists())
            ]  # fmt: skip
            for name in names:
                store.fetch_file(name, draft / name, there[name])
            names += [primary] if replaces else []  # last: by it the others count
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(draft / name, folder / name)
    except OSError as error:
        got = describe_os_error(error)
        raise UsageError("cannot write what the mirror has", where=str(folder), got=got) from error
    if replaces:
        write_state(mirrored, theirs)
    if names:
        say(f"{len(names)} {'file' if len(names) == 1 else 'files'} fetched from {mirrored.url}")
    return theirs


def _is_ahead(mirrored: MirroredFolder, fetched: Path) -> bool:
    # Whether the fetched primary file is to replace what is here.
    here = mirrored.folder / mirrored.primary
    ours, theirs, synced = digest_file(here), digest_file(fetched), read_state(mirrored)
    if ours == theirs or (ours and theirs == synced):
        return False
    if ours not in ("", synced):
        where = f"{mirrored.folder}, {mirrored.url}"
        raise UsageError(f"{mirrored.primary} is another one here than there", where=where,
                         hint="move the one away that you do not want")  # fmt: skip
    try:
        mirrored.check_primary(fetched)
    except DataError as error:
        raise DataError(f"{mirrored.primary} of the mirror: {error.what}", where=mirrored.url, got=error.got,
                        hint="what is here stays; delete what is there to go on from here") from error  # fmt: skip
    return True
