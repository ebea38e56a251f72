"""Reading bundles: one file with the code of several functions for several chips (docs/Bundle.md).

BundleError is raised unless a file is complete, of a known version and as that page says. Checksums are checked
before anything else is read.
"""

import json
import struct
import zlib

from .checks import Node
from .errors import BundleError
from .launch_info import LaunchInfo

MAGIC = b"\x89BSCALE\n"
VERSION = 1
# The magic, the bytes of the JSON behind it, the CRC-32 of that, and zeros.
PRELUDE = struct.Struct("<8sQII")
ALIGNMENT = 16
# Far more than any code needs; keeps a damaged file from taking all memory.
MAX_IMAGE_BYTES = 2**28
MAX_BYTES = 2**53


class Image:
    """Code of all kernels of an entry: `kind` is `ptx` (text of `ptx_version`) or `cubin`."""

    def __init__(self, node, data):
        fields = node.fields(("kind", "ptx_version", "offset", "bytes", "size", "compression", "crc32"))
        self.kind = fields["kind"].choice(("ptx", "cubin"))
        self.ptx_version = fields["ptx_version"].name()
        self._compression = fields["compression"].choice(("none", "zlib"))
        self._size = fields["size"].integer(1, MAX_IMAGE_BYTES)
        offset, size = (fields[name].integer(0, MAX_BYTES) for name in ("offset", "bytes"))
        if offset % ALIGNMENT:
            raise fields["offset"].error(f"a multiple of {ALIGNMENT}")
        if offset + size > len(data):
            raise fields["offset"].error(f"an image of {size} bytes inside of the file's {len(data)}")
        if self._compression == "none" and size != self._size:
            raise fields["bytes"].error(f"{self._size}, as there is no compression")
        self._stored = data[offset : offset + size]
        if zlib.crc32(self._stored) != fields["crc32"].integer(0, 2**32 - 1):
            raise BundleError(f"{node.where}: expected the image's checksum, got another: the file is damaged")
        self._where = node.where

    def read(self):
        """The bytes of the image, without a terminating zero."""
        if self._compression == "none":
            return bytes(self._stored)
        decoder = zlib.decompressobj()
        try:
            image = decoder.decompress(self._stored, self._size)
        except zlib.error as error:
            raise BundleError(f"{self._where}: expected data of zlib: {error}") from None
        if len(image) != self._size or not decoder.eof or decoder.unused_data:
            raise BundleError(f"{self._where}: expected {self._size} bytes when decompressed, got others")
        return image


class Entry:
    """A function for one chip: how it is launched, and its code, PTX or a cubin or both."""

    def __init__(self, node, data):
        fields = node.fields(("function", "types", "launch", "images"), optional=("most_rows",))
        self.function = fields["function"].name()
        # None for any number of rows.
        self.most_rows = fields["most_rows"].integer(1, MAX_BYTES) if "most_rows" in fields else None
        self.info = LaunchInfo(fields["launch"], [type.name() for type in fields["types"].elements()])
        self.images = [Image(image, data) for image in fields["images"].elements(least=1)]
        kinds = [image.kind for image in self.images]
        if len(set(kinds)) != len(kinds):
            raise fields["images"].error("at most one image of a kind")
        self.launch_info = fields["launch"].value


def _reject_constant(name):
    raise ValueError(f"expected JSON, got {name}")


class Objects:
    """Makes one dict of all small JSON objects that are equal: expressions are large, and nearly all of them repeated."""

    MAX_FIELDS = 3

    def __init__(self):
        self._made = {}

    def __call__(self, pairs):
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError(f"expected each name of an object once, got {' '.join(name for name, _ in pairs)}")
        if len(made) > self.MAX_FIELDS:
            return made
        key = []
        for name, value in pairs:
            key.append(name)
            self._add(key, value)
        return self._made.setdefault(tuple(key), made)

    def _add(self, key, value):
        # This is most of the time that it takes to load a bundle: no call for an element of a list.
        if type(value) is list:
            key.append("[")
            for each in value:
                kind = type(each)
                if kind is dict:
                    key.append(id(each))
                elif kind is list:
                    self._add(key, each)
                else:
                    key.append(repr(each))
            key.append("]")
        else:
            # The text, since Python says that 1, 1.0 and True are equal.
            key.append(id(value) if type(value) is dict else repr(value))


def parse_bundle(data):
    """The entries of a bundle, given as bytes."""
    try:
        return _parse_bundle(data)
    except RecursionError:
        raise BundleError("expected JSON that is nested less deeply") from None


def _parse_bundle(data):
    if data[: len(MAGIC)] != MAGIC:
        raise BundleError(f"expected a bundle, which starts with {MAGIC!r}, got {bytes(data[: len(MAGIC)])!r}")
    if len(data) < PRELUDE.size:
        raise BundleError(f"truncated bundle: expected at least {PRELUDE.size} bytes, got {len(data)}")
    _, size, checksum, reserved = PRELUDE.unpack_from(data)
    if PRELUDE.size + size > len(data):
        raise BundleError(f"truncated bundle: expected at least {PRELUDE.size + size} bytes, got {len(data)}")
    header = data[PRELUDE.size : PRELUDE.size + size]
    if zlib.crc32(header) != checksum or reserved != 0:
        raise BundleError("expected the header's checksum, got another: the file is damaged")
    try:
        root = Node(json.loads(
            bytes(header).decode("utf-8"), parse_constant=_reject_constant, object_pairs_hook=Objects()
        ))
    except ValueError as error:
        raise BundleError(f"expected a header of JSON: {error}") from None
    # Nothing else is known about other versions.
    if not root.has("version"):
        raise root.error("an object with a field 'version'")
    version = Node(root.value["version"], "$.version").integer(1, MAX_BYTES)
    if version != VERSION:
        raise BundleError(f"expected a bundle of version {VERSION}, got one of version {version}")
    fields = root.fields(("version", "producer", "bytes", "entries"))
    fields["producer"].name()
    total = fields["bytes"].integer(0, MAX_BYTES)
    if total != len(data):
        raise BundleError(f"{'truncated' if total > len(data) else 'damaged'} bundle: expected {total} bytes, "
                          f"got {len(data)}")
    entries = [Entry(entry, data) for entry in fields["entries"].elements(least=1)]
    names = [(entry.function, entry.info.target) for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise fields["entries"].error(f"one entry for function '{name[0]}' and {name[1]}")
    return entries


def read_bundle(path):
    """The entries of the bundle at a path. Messages of BundleError start with the path."""
    with open(path, "rb") as file:
        data = memoryview(file.read())
    try:
        return parse_bundle(data)
    except BundleError as error:
        raise BundleError(f"'{path}': {error}") from None
