"""`RemoteFolder`: files on shared storage, by fsspec; every file is replaced whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from trailbrake.errors import TrailbrakeError, UsageError, describe_os_error

PART = ".part"  # ends the name of a file that is on its way
ATTEMPTS, TIMEOUT_S = 3, 10.0  # of S3's client, which otherwise tries for minutes
_S3_OPTIONS = {"config_kwargs": {"connect_timeout": TIMEOUT_S, "read_timeout": 30.0,
                                 "retries": {"max_attempts": ATTEMPTS, "mode": "standard"}}}  # fmt: skip


class RemoteFolder:
    """A folder or a URL that fsspec knows, as s3://BUCKET/FOLDER.

    Args:
        url: the folder; it need not exist.

    Raises:
        UsageError: fsspec, or what it needs for this kind of URL, is missing; there is no such kind; the store cannot
            be reached. All methods raise it where the store refuses.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        if not url:
            raise UsageError("no folder or URL", where="--mirror")
        try:
            import fsspec
        except ImportError as error:
            raise UsageError("fsspec is missing", where="--mirror", got=url,
                             hint='pip install "trailbrake[storage]"') from error  # fmt: skip
        options = _S3_OPTIONS if url.startswith(("s3://", "s3a://")) else {}
        with self._plain_errors("use"):
            filesystem, root = fsspec.url_to_fs(url, **options)
            self._filesystem: Any = filesystem
            self._root = str(root).rstrip("/")

    def is_inside(self, folder: Path) -> bool:
        """Return whether the store is a folder of this machine at or below another one."""
        protocols = self._filesystem.protocol
        is_here = "file" in ((protocols,) if isinstance(protocols, str) else protocols)
        return is_here and Path(self._root).resolve().is_relative_to(folder.resolve())

    def list_files(self) -> dict[str, int]:
        """Return the sizes of the files in bytes, by their names below the folder; none where there is no folder."""
        with self._plain_errors("read"):
            self._filesystem.invalidate_cache()
            found = self._filesystem.find(self._root, detail=True)
        names = {path.removeprefix(self._root).lstrip("/"): int(about["size"]) for path, about in found.items()}
        return {name: size for name, size in names.items() if _is_plain(name) and not name.endswith(PART)}

    def check_writable(self) -> None:
        """Write a file that is deleted again; UsageError where that is refused."""
        path = self._path(f".{os.getpid()}{PART}")
        with self._plain_errors("write to"):
            self._filesystem.makedirs(self._root, exist_ok=True)
            self._filesystem.pipe_file(path, b"")
            self._filesystem.rm_file(path)

    def read_key(self, name: str) -> str:
        """Return a text that changes whenever a file does; "" where there is none."""
        with self._plain_errors("read"):
            self._filesystem.invalidate_cache()
            path = self._path(name)
            return str(self._filesystem.ukey(path)) if self._filesystem.exists(path) else ""

    def fetch_file(self, name: str, target: Path, size: int) -> None:
        """Copy a file from the store.

        Args:
            name: below the folder.
            target: the new file; its folder is made.
            size: bytes that the store has said it has.

        Raises:
            UsageError: it cannot be read or written, or is shorter or longer than that.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._plain_errors("read"):
            self._filesystem.get_file(self._path(name), str(target))
        if (got := target.stat().st_size) != size:
            raise UsageError("a file of the mirror did not arrive whole", where=f"{self.url}/{name}",
                             expected=f"{size} bytes", got=str(got), hint="run the same command again")  # fmt: skip

    def send_file(self, source: Path, name: str) -> None:
        """Copy a file to the store: under another name first, so that the old one stays until the new one is whole.

        Args:
            source: the file here.
            name: below the folder.
        """
        path = self._path(name)
        part = f"{path}.{os.getpid()}{PART}"
        with self._plain_errors("write to"):
            parent = path.rpartition("/")[0]
            self._filesystem.makedirs(parent, exist_ok=True)
            try:
                self._filesystem.put_file(str(source), part)
                self._filesystem.mv(part, path)
            except BaseException:
                self._remove_part(part)
                raise

    def _remove_part(self, part: str) -> None:
        try:
            if self._filesystem.exists(part):
                self._filesystem.rm_file(part)
        except Exception:  # the store is what has just failed; the first error says why
            return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _plain_errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except TrailbrakeError:
            raise
        except ImportError as error:  # fsspec names the package that this kind of URL needs
            raise UsageError("a package for this kind of storage is missing", where=self.url,
                             got=_describe_error(error),
                             hint='for s3://: pip install "trailbrake[storage]"') from error  # fmt: skip
        except Exception as error:  # errors of the stores' clients have no common base
            raise UsageError(f"cannot {action} the mirror", where=self.url, got=_describe_error(error),
                             hint=_hint_for(error)) from error  # fmt: skip


def _is_plain(name: str) -> bool:
    # Whether a name from the store stays below the folder that it is fetched into.
    parts = PurePosixPath(name).parts
    return bool(parts) and "\\" not in name and ":" not in name and not {"..", "/", "."} & set(parts)


def _describe_error(error: BaseException) -> str:
    text = " ".join(describe_os_error(error).split())
    return text[:200] or type(error).__name__


def _hint_for(error: BaseException) -> str:
    kind = type(error).__name__
    if "Credential" in kind or isinstance(error, PermissionError):
        return "credentials are taken from where the store's own tools take them: the environment, ~/.aws for s3://"
    return ""
