"""How the kernels of a function are launched: a launch info, read and checked (docs/Programs.md, "Launch info")."""

import re
import struct

from . import expressions
from .checks import Node
from .errors import BundleError
from .expressions import INT64_MAX, MAX_NUMBER, Size, read_expression, read_packed
from .tensor_maps import BYTES as MAP_BYTES
from .tensor_maps import TensorMap

# The newest one has conditions and selects.
VERSIONS = (1, 2)
# Limit for one parameter.
MAX_PARAM_BYTES = 32764
DTYPES = {"u1": 1, "i1": 1, "u2": 2, "i2": 2, "f2": 2, "u4": 4, "i4": 4, "f4": 4, "u8": 8, "i8": 8, "f8": 8}


class Param:
    """The value of a parameter of a kernel, or of a field of a struct.

    `kind` is `arg`, `result`, `size`, `workspace`, `i32`, `i64`, `f32` or `struct`. With a `tensor_map`, it is that
    of the memory that the first two, or a workspace, would point to.
    """

    def __init__(self, kind, index=None, number=None, offset=None, fields=(), data=b"", size=8):
        self.kind, self.index, self.number, self.fields, self.data = kind, index, number, fields, data
        self.offset = offset or expressions.constant(0)
        self.tensor_map = None
        self.bytes = size

    @property
    def alignment(self):
        """Reads a field of a struct; numbers are allowed in structs only."""
        if self.tensor_map:
            return 64
        return 8 if self.kind in ("arg", "result", "workspace") else 1

    @property
    def expressions(self):
        own = [self.offset, *([self.number] if isinstance(self.number, expressions.Expression) else [])]
        inner = [each for _, field in self.fields for each in field.expressions]
        return own + inner + (self.tensor_map.expressions if self.tensor_map else [])

    def indices(self, kind):
        """The operands that it names itself."""
        own = [self.index] if self.kind == kind else []
        return own + [index for _, field in self.fields for index in field.indices(kind)]


def _read_index(name):
    return lambda node, offset: Param(name, index=node.integer(0, MAX_NUMBER), offset=offset)


def _read_size(node, _):
    return Param("size", number=expressions.of_size(Size(node)), size=4)


def _read_integer(name, least, most, size):
    return lambda node, _: Param(name, number=read_expression(node, least, most), size=size)


def _read_f32(node, _):
    if not isinstance(node.value, (int, float)) or isinstance(node.value, bool):
        raise node.error("a number")
    try:
        return Param("f32", data=struct.pack("<f", node.value), size=4)
    except OverflowError:
        raise node.error("a number that f32 can hold") from None


def _read_map(node, _):
    param = read_param(node.fields(("of",), tuple(node.value if isinstance(node.value, dict) else ()))["of"])
    if param.tensor_map or param.kind not in ("arg", "result", "workspace"):
        raise node.error("a tensor map of memory")
    param.tensor_map, param.bytes = TensorMap(node), MAP_BYTES
    return param


def _read_struct(node, _):
    fields = node.fields((), ("bytes", "size", "fields"))
    if ("bytes" in fields) == ("size" in fields):
        raise node.error("one of the fields bytes and size")
    if "size" in fields:
        data = bytes(fields["size"].integer(1, MAX_PARAM_BYTES))
    else:
        what = f"two hexadecimal digits for each of 1 to {MAX_PARAM_BYTES} bytes"
        digits = fields["bytes"].name()
        if not set(digits) <= set("0123456789abcdefABCDEF") or len(digits) % 2 or len(digits) > 2 * MAX_PARAM_BYTES:
            raise fields["bytes"].error(what)
        data = bytes.fromhex(digits)
    found = []
    for each in fields["fields"].elements() if "fields" in fields else ():
        inner = each.fields(("at", "param"))
        param = read_param(inner["param"])
        if param.kind == "struct":
            raise inner["param"].error("no struct in a struct")
        at = inner["at"].integer(0, len(data) - 1)
        if at % param.alignment:
            raise inner["at"].error(f"a multiple of {param.alignment}")
        found.append((at, param))
    # A scalar argument may have fewer than 8 bytes; launches check this.
    end = 0
    for at, param in sorted(found, key=lambda each: each[0]):
        least = 1 if param.kind == "arg" and not param.tensor_map else param.bytes
        if at < end or at + least > len(data):
            raise node.error("fields that are in the struct and do not overlap")
        end = at + least
    return Param("struct", fields=found, data=data, size=len(data))


# The reader of each field, by its name.
KINDS = {
    "arg": _read_index("arg"),
    "result": _read_index("result"),
    "size": _read_size,
    "workspace": lambda node, _: Param("workspace", offset=read_expression(node, 0, INT64_MAX)),
    "tensor_map": _read_map,
    "i32": _read_integer("i32", -(2**31), 2**32 - 1, 4),
    "i64": _read_integer("i64", expressions.INT64_MIN, INT64_MAX, 8),
    "f32": _read_f32,
    "struct": _read_struct,
}


def read_param(node):
    fields = node.fields((), (*KINDS, "offset"))
    offset = fields.pop("offset", None)
    if len(fields) != 1:
        raise node.error(f"an object of one field of {' '.join(KINDS)}")
    [(name, field)] = fields.items()
    if offset and name not in ("arg", "result"):
        raise node.error(f"no offset with {name}")
    return KINDS[name](field, read_expression(offset, 0, INT64_MAX) if offset else None)


class Kernel:
    """One launch: grid, block and cluster in x, y, z; `shared` in bytes, dynamic.

    If its `condition` is 0, it is left out, and its other numbers are not evaluated.
    """

    def __init__(self, node):
        fields = node.fields(("name", "grid", "block", "cluster", "shared", "params"), ("programmatic", "condition"))
        self.name = fields["name"].name()
        self.condition = read_expression(fields["condition"]) if "condition" in fields else expressions.constant(1)
        self.grid = [read_expression(extent, 1, MAX_NUMBER) for extent in fields["grid"].elements(3)]
        self.block, self.cluster = (
            tuple(extent.integer(1, MAX_NUMBER) for extent in fields[name].elements(3)) for name in ("block", "cluster")
        )
        self.shared = fields["shared"].integer(0, MAX_NUMBER)
        self.is_programmatic = "programmatic" in fields and fields["programmatic"].boolean()
        self.params = [read_param(param) for param in fields["params"].elements()]
        self.params_as_written = fields["params"].value

    @property
    def expressions(self):
        return [self.condition, *self.grid, *(each for param in self.params for each in param.expressions)]


class Operand:
    """The contents of the buffer of an argument or a result.

    `shape` counts elements; if the last dimension is packed, `bytes` bytes of the buffer hold `elements`.
    `type` is MLIR's name of the element type, such as f8E4M3FN. A scalar has no dimensions.
    """

    def __init__(self, node, type):
        fields = node.fields(("dtype", "shape"), ("packed",))
        self.dtype = fields["dtype"].choice(DTYPES)
        self.type = type
        self.shape = [read_expression(size, 0, INT64_MAX) for size in fields["shape"].elements()]
        if "packed" in fields and not self.shape:
            raise fields["shape"].error("an array of at least 1 for a packed operand")
        self.elements, self.bytes = read_packed(fields.get("packed"))

    @property
    def is_packed(self):
        return (self.elements, self.bytes) != (1, 1)


class Check:
    """A condition on sizes: if `condition` is 0, the launch fails with `message`."""

    def __init__(self, node):
        fields = node.fields(("condition", "message"))
        self.condition = read_expression(fields["condition"], 0, 1)
        message = fields["message"]
        if not isinstance(message.value, str):
            raise message.error("a string")
        # Drop the prefix of upstream's messages, which only says that a check failed.
        self.message = message.value.removeprefix("ERROR: Runtime op verification failed\n")


def _read_digests(node):
    """The digest of each kind of code, see code_digest.py."""
    digests = {}
    for kind, digest in node.fields((), ("ptx", "cubin")).items():
        digests[kind] = digest.name()
        if not re.fullmatch("[0-9a-f]{64}", digests[kind]):
            raise digest.error("64 hexadecimal digits in lower case")
    if not digests:
        raise BundleError(f"{node.where}: expected a field 'ptx' or 'cubin', got none")
    return digests


def _read_version(node):
    """The version, before anything else: little is known about other ones."""
    if not node.has("version"):
        return VERSIONS[0]
    version = node.value["version"]
    if type(version) is not int or version not in VERSIONS:
        raise Node(version, f"{node.where}.version").error("1 or 2")
    return version


def _refuse_newer(node):
    """Checks that a launch info of version 1 has nothing that only version 2 has."""

    def error(name, where):
        return BundleError(f"{where}.{name}: expected version 2 for {name}, got 1")

    def refuse_selects(value, where):
        if isinstance(value, dict):
            if "select" in value:
                raise error("select", where)
            for name, inner in value.items():
                refuse_selects(inner, f"{where}.{name}")
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                refuse_selects(inner, f"{where}[{i}]")

    for i, kernel in enumerate(node.value["kernels"]):
        if "condition" in kernel:
            raise error("condition", f"{node.where}.kernels[{i}]")
    refuse_selects(node.value, node.where)


class LaunchInfo:
    """A function as kernels in launch order, with `num_arguments` operands and then `num_results`.

    `types` are MLIR's names of the elements of all operands, as a bundle has them.
    """

    def __init__(self, node, types):
        version = _read_version(node)
        fields = node.fields(
            ("version", "target", "kernels", "workspace", "operands"), ("checks", "schedule", "digest")
        )
        self.target = fields["target"].name()
        self.schedule = fields["schedule"].name() if "schedule" in fields else ""
        self.digests = _read_digests(fields["digest"]) if "digest" in fields else {}
        self.workspace = read_expression(fields["workspace"], 0, INT64_MAX)
        self.kernels = [Kernel(kernel) for kernel in fields["kernels"].elements(least=1)]
        operands = fields["operands"].elements(len(types))
        self.operands = [Operand(operand, type) for operand, type in zip(operands, types)]
        params = [param for kernel in self.kernels for param in kernel.params]
        self.num_results = max((index + 1 for param in params for index in param.indices("result")), default=0)
        self.num_arguments = len(self.operands) - self.num_results
        numbers = [self.workspace, *(each for kernel in self.kernels for each in kernel.expressions)]
        numbers += [size for operand in self.operands for size in operand.shape]
        self.checks = [Check(check) for check in fields["checks"].elements()] if "checks" in fields else []
        numbers += [check.condition for check in self.checks]
        # Arguments whose values a launch depends on.
        self.valued = sorted(frozenset().union(*(each.values for each in numbers)))
        needed = max(
            [each.arguments for each in numbers] + [i + 1 for param in params for i in param.indices("arg")],
            default=0,
        )
        if needed > self.num_arguments:
            raise fields["operands"].error(
                f"operands of at least {needed} arguments and {self.num_results} results, as kernels have"
            )
        if version == 1:
            _refuse_newer(node)
