"""Bundles made by hand, by docs/Bundle.md and not by what reads them."""

import copy
import json
import struct
import zlib

SIZE = {"size": {"arg": 0, "dim": 0}}


def kernel(name, params, grid=(1, 1, 1), **fields):
    return {"name": name, "grid": list(grid), "block": [32, 1, 1], "cluster": [1, 1, 1], "shared": 0,
            "params": params, **fields}


def info(kernels, operands, workspace=0, target="sm_90a"):
    return {"version": 1, "target": target, "kernels": kernels, "workspace": workspace, "operands": operands}


def operand(dtype, *shape, **fields):
    return {"dtype": dtype, "shape": list(shape), **fields}


BYTES = {"arg": 8, "result": 8, "workspace": 8, "size": 4, "i32": 4, "i64": 8, "f32": 4, "tensor_map": 128}


def param_bytes(param, launch):
    """What a kernel has for a parameter. An argument without dimensions is taken to be a number."""
    if "struct" in param:
        fields = param["struct"]
        return fields.get("size") or len(fields["bytes"]) // 2
    if "arg" in param and not launch["operands"][param["arg"]]["shape"]:
        return int(launch["operands"][param["arg"]]["dtype"][1])
    return next(size for name, size in BYTES.items() if name in param)


def ptx(launch, mark=""):
    """PTX that the fake driver understands."""
    lines = [
        f"// fake {each['name']}: {' '.join(str(param_bytes(param, launch)) for param in each['params'])}"
        for each in launch["kernels"]
    ]
    return "\n".join([*lines, f"// {mark}", ".version 8.7", f".target {launch['target']}", ""]).encode()


class Image:
    def __init__(self, data, kind="ptx", version="8.7", compression="zlib"):
        self.data, self.kind, self.version, self.compression = data, kind, version, compression


def entry(function, launch, types, images=None):
    return {"function": function, "launch": launch, "types": types, "images": images or [Image(ptx(launch))]}


def pad(data):
    return data + bytes(-len(data) % 16)


def pack(entries, change_header=lambda header: None, change_text=lambda text: text):
    """The bytes of a bundle. `change_header` and `change_text` damage what its checksums then are of."""
    entries = copy.deepcopy(entries)
    stored = []
    for each in entries:
        images = []
        for image in each["images"]:
            data = zlib.compress(image.data) if image.compression == "zlib" else image.data
            stored.append(data)
            images.append({
                "kind": image.kind, "ptx_version": image.version, "offset": 0, "bytes": len(data),
                "size": len(image.data), "compression": image.compression, "crc32": zlib.crc32(data),
            })
        each["images"] = images
    header = {"version": 1, "producer": "by hand", "bytes": 0, "entries": entries}
    # Offsets are numbers in the header, whose length they depend on: blanks fill the rest.
    header_size = len(json.dumps(header)) + 20 * len(stored) + 2000
    offset = len(pad(bytes(24 + header_size)))
    for image, data in zip((image for each in entries for image in each["images"]), stored):
        image["offset"] = offset
        offset += len(pad(data))
    header["bytes"] = offset
    change_header(header)
    text = change_text(json.dumps(header).encode().ljust(header_size))
    start = struct.pack("<8sQII", b"\x89BSCALE\n", len(text), zlib.crc32(text), 0)
    return pad(start + text) + b"".join(map(pad, stored))


# f(x: tensor<?x64xf8E4M3FN>, n: f32) -> tensor<?x8xf32>: two kernels, of which the first fills a workspace.
TWO = info(
    [
        kernel("first", [{"arg": 0}, {"workspace": 256}, SIZE], [{"ceildiv": [{"arg": 0, "dim": 0}, 4]}, 2, 1]),
        kernel("second", [{"result": 0}, {"workspace": 0}, {"arg": 1}], block=[128, 1, 1], cluster=[2, 1, 1],
               shared=65536, programmatic=True),
    ],
    [operand("u1", SIZE, 64), operand("f4"), operand("f4", SIZE, 8)],
    workspace={"mul": [SIZE, 100]},
)
TWO_TYPES = ["f8E4M3FN", "f32", "f32"]


def two(**changes):
    return entry("two", {**TWO, **changes}, TWO_TYPES)


def one_kernel(params, operands, types, name="f", workspace=0, grid=(1, 1, 1), **fields):
    """An entry of one kernel."""
    return entry(name, info([kernel(name, params, grid, **fields)], operands, workspace), types)
