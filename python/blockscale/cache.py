"""A cache of compiler results on disk.

The folder is $BLOCKSCALE_CACHE, else $XDG_CACHE_HOME/blockscale, else ~/.cache/blockscale. An entry
is one file, named by a hash of everything that it depends on. Its first line is a hash of the rest,
so that damaged entries are found and made again. A file is renamed to its name when it is complete,
so concurrent writers do no harm: they write the same.

If the entries exceed LIMIT_BYTES together, the least recently used ones are removed. Failures to
read or write the cache are no errors: the compiler runs instead.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any, Iterable, List, Optional, Tuple

LIMIT_BYTES = 256 << 20
_SUFFIX, _UNFINISHED = ".entry", ".new"
# Temporary files of writers that were killed are removed after so many seconds.
_STALE_SECONDS = 3600


def folder() -> Optional[Path]:
    """The folder of the entries; None if there is no home folder."""
    if os.environ.get("BLOCKSCALE_CACHE"):
        return Path(os.environ["BLOCKSCALE_CACHE"])
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "blockscale"
    try:
        return Path.home() / ".cache" / "blockscale"
    except RuntimeError:
        return None


def make_key(parts: Iterable[Any]) -> str:
    """The name of the entry that depends on `parts`, each bytes or a JSON value."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load(key: str) -> Optional[Any]:
    """The stored value; None if there is none or it is damaged."""
    where = folder()
    if where is None:
        return None
    path = where / (key + _SUFFIX)
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        if head.decode() != hashlib.sha256(body).hexdigest():
            return None
        value = json.loads(body)
        os.utime(path)  # used now
        return value
    except (OSError, ValueError):
        return None


def store(key: str, value: Any) -> None:
    """Stores a JSON value."""
    where = folder()
    if where is None:
        return
    body = json.dumps(value).encode()
    data = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
    try:
        where.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=where)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, where / (key + _SUFFIX))
    except BaseException as error:
        _remove(Path(name))
        if not isinstance(error, OSError):
            raise
    _shrink(where)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:  # another one was faster, or may
        pass


def _files(where: Path) -> List[Tuple[float, int, Path]]:
    """(time of last use, size, path) of all files of the cache."""
    files = []
    for suffix in (_SUFFIX, _UNFINISHED):
        for path in where.glob("*" + suffix):
            try:
                status = path.stat()
            except OSError:
                continue
            files.append((status.st_mtime, status.st_size, path))
    return files


def _shrink(where: Path) -> None:
    total, now = 0, time.time()
    for used, size, path in sorted(_files(where), reverse=True):
        total += size
        is_stale = path.suffix == _UNFINISHED and now - used > _STALE_SECONDS
        if is_stale or (path.suffix == _SUFFIX and total > LIMIT_BYTES):
            _remove(path)


def clear() -> int:
    """Removes all entries, and no other files of the folder; returns how many there were."""
    where = folder()
    files = _files(where) if where is not None else []
    for _, _, path in files:
        _remove(path)
    return sum(path.suffix == _SUFFIX for _, _, path in files)
