"""Prints a line for each entry of a bundle: show_bundle.py REPOSITORY FILE

A line has the function, the chip, the types, the kinds of images with the PTX version, and the kernel that is
launched last, which the code has.
"""

import sys

sys.path.insert(0, f"{sys.argv[1]}/python")
from blockscale.runtime.bundle_file import read_bundle  # noqa: E402

for entry in read_bundle(sys.argv[2]):
    last = entry.info.kernels[-1].name
    images = [f"{image.kind} {image.ptx_version}" for image in entry.images]
    for image in entry.images:
        code = image.read()
        assert last.encode() in code
        assert image.kind != "ptx" or f".target {entry.info.target}\n".encode() in code
        assert image.kind != "cubin" or code.startswith(b"\x7fELF")
    types = ",".join(operand.type for operand in entry.info.operands)
    print(entry.function, entry.info.target, types, *images, last)
