"""One entry of a bundle as a bundle of its own. To read all of one takes longer than most launches in the simulator."""

import functools
import json
import tempfile
import zlib
from pathlib import Path

from blockscale.runtime import bundle_file

FOLDER = tempfile.TemporaryDirectory(prefix="entries")


@functools.cache
def read(bundle):
    data = Path(bundle).read_bytes()
    _, size, _, _ = bundle_file.PRELUDE.unpack_from(data)
    return data, json.loads(data[bundle_file.PRELUDE.size : bundle_file.PRELUDE.size + size])


def align(size):
    return -(-size // bundle_file.ALIGNMENT) * bundle_file.ALIGNMENT


@functools.cache
def extract(bundle, function, chip):
    """The path of a bundle that has only the entry of this function for this chip."""
    data, header = read(bundle)
    [entry] = [
        entry for entry in header["entries"] if entry["function"] == function and entry["launch"]["target"] == chip
    ]
    images = [data[image["offset"] : image["offset"] + image["bytes"]] for image in entry["images"]]
    # Where images start, behind a text that is filled up with spaces.
    room = align(bundle_file.PRELUDE.size + len(json.dumps(entry)) + 1024)
    offset, placed = room, []
    for image, stored in zip(entry["images"], images):
        placed.append({**image, "offset": offset})
        offset += align(len(stored))
    text = json.dumps({**header, "bytes": offset, "entries": [{**entry, "images": placed}]}).encode()
    text = text.ljust(room - bundle_file.PRELUDE.size)
    made = bundle_file.PRELUDE.pack(bundle_file.MAGIC, len(text), zlib.crc32(text), 0) + text
    for stored in images:
        made += stored.ljust(align(len(stored)), b"\0")
    path = Path(FOLDER.name) / f"{Path(bundle).stem}-{function}-{chip}.bundle"
    path.write_bytes(made)
    return path
