"""Digests that tie a launch info to its code, as blockscale-compile writes them (docs/Programs.md, "Launch info")."""

import hashlib
import json
import re

from .errors import ImageError

# A string, which is kept; or what counts as a space: comments, lines for a debugger and white space.
_BLANK = re.compile(
    rb'("[^"\n]*")|(?:\s|//[^\n]*|/\*.*?\*/|(?<![\w.$%])\.(?:loc|file)(?!\w)[^\n]*)+', re.DOTALL
)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TARGET = re.compile(rb"(?<![\w.$%])\.target\s+([\w.$%]+)")


def normalize(ptx):
    """A PTX text (bytes) with one space for each run of white space, comments, and directives .loc and .file."""
    return _BLANK.sub(lambda match: match[1] or b" ", ptx).strip(b" ")


def compute(info, image, kind):
    """The digest of the kernels of `info` and of `image`, bytes of `kind` ptx or cubin."""
    lines = [f"target {info.target}", f"schedule {info.schedule}"]
    for kernel in info.kernels:
        params = json.dumps(kernel.params_as_written, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        lines += [f"kernel {kernel.name}", f"params {params}"]
    text = "".join(line + "\n" for line in lines).encode()
    return hashlib.sha256(text + (image if kind == "cubin" else normalize(image))).hexdigest()


def check(info, image, kind):
    """Raises ImageError if the launch info belongs to other code. Without a digest, any code is accepted."""
    expected = info.digests.get(kind)
    # A cubin may have been assembled later, so the digest of the PTX says nothing about it; but a cubin without PTX
    # must have its own digest.
    if expected is None and (kind == "cubin" or not info.digests):
        return
    if kind == "ptx":
        target = _TARGET.search(_COMMENT.sub(b" ", image))
        got = target[1].decode(errors="replace") if target else "no target"
        if got != info.target:
            raise ImageError(f"expected code for {info.target}, got PTX for {got}")
    schedule = f" (schedule {info.schedule})" if info.schedule else ""
    if expected is None:
        raise ImageError(f"expected the machine code that the launch info was written with{schedule}, got PTX")
    if compute(info, image, kind) != expected:
        raise ImageError(f"expected the code that the launch info was written with{schedule}, got other code")
