"""The cache on disk: whole entries or none, for several writers, within its limit."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from blockscale import cache

PACKAGE = Path(cache.__file__).resolve().parents[1]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("BLOCKSCALE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("BLOCKSCALE_CACHE", "/a")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    monkeypatch.setenv("HOME", "/c")
    assert cache.folder() == Path("/a")
    monkeypatch.delenv("BLOCKSCALE_CACHE")
    assert cache.folder() == Path("/b/blockscale")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path("/c/.cache/blockscale")


def test_stores_and_loads(folder):
    key = cache.make_key(["a"])
    assert cache.load(key) is None
    cache.store(key, {"a": [1, "b"]})
    assert cache.load(key) == {"a": [1, "b"]}
    assert entries(folder) == [key + ".entry"]


def test_keys_depend_on_every_part_and_its_ends():
    keys = [
        cache.make_key(parts)
        for parts in (["a", "b"], ["ab"], ["b", "a"], [b"a", "b"], ["a", "b", None], ["a", ["b"]], [b"ab"], [b"a", b"b"])
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "folder"])
def test_a_damaged_entry_is_none_and_is_made_again(folder, damage):
    cache.store("k", {"code": "x" * 100})
    path = folder / "k.entry"
    data = bytearray(path.read_bytes())
    if damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        data = {"cut": data[:-1], "flip": data[:-9] + b"!" + data[-8:], "empty": b""}[damage]
        path.write_bytes(data)
    assert cache.load("k") is None
    cache.store("k", 2)
    assert cache.load("k") == (None if damage == "folder" else 2)


def test_a_cache_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BLOCKSCALE_CACHE", str(tmp_path / "file" / "below"))
    cache.store("k", 1)
    assert cache.load("k") is None
    assert cache.clear() == 0


def test_an_interrupt_leaves_nothing(folder, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.store("k", 1)
    assert entries(folder) == []


def test_the_oldest_go_first(folder, monkeypatch):
    for i in range(4):
        cache.store(f"k{i}", "x" * 100)
        os.utime(folder / f"k{i}.entry", (i, i))
    size = (folder / "k0.entry").stat().st_size
    assert cache.load("k0") is not None  # used now
    monkeypatch.setattr(cache, "LIMIT_BYTES", 3 * size)
    cache.store("k4", "x" * 100)
    assert entries(folder) == ["k0.entry", "k3.entry", "k4.entry"]


def test_what_killed_writers_left_goes_after_a_while(folder):
    folder.mkdir()
    old = time.time() - 2 * cache._STALE_SECONDS
    for name in ("old.new", "young.new", "foreign.txt"):
        (folder / name).touch()
    os.utime(folder / "old.new", (old, old))
    os.utime(folder / "foreign.txt", (old, old))
    cache.store("k", 1)
    assert entries(folder) == ["foreign.txt", "k.entry", "young.new"]


def test_clear(folder):
    assert cache.clear() == 0
    cache.store("a", 1)
    cache.store("b", 2)
    (folder / "foreign.txt").touch()
    assert cache.clear() == 2
    assert entries(folder) == ["foreign.txt"]


def test_writers_at_the_same_time(folder):
    """Whoever reads meanwhile finds nothing, or all of it."""
    code = "from blockscale import cache\nfor _ in range(100): cache.store('k', 'x' * 200000)"
    writers = [
        subprocess.Popen([sys.executable, "-B", "-c", code], env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        for _ in range(3)
    ]
    found = []
    while any(writer.poll() is None for writer in writers):
        path = folder / "k.entry"
        if path.exists():
            found.append(cache.load("k"))
    assert all(writer.wait() == 0 for writer in writers)
    assert found and set(found) == {"x" * 200000}
    assert entries(folder) == ["k.entry"]
