"""What a licence of a product's sums is, `#blockscale.accumulate`; `accumulation` says what it costs.

Without numpy, which programs that only compile do not load.
"""

from __future__ import annotations

from numbers import Integral

CHUNKS = (32, 64, 128)


def check_licence(chunk, rebase, name="chunk"):
    """Raises ValueError or TypeError, with the name of `chunk`, unless these are a licence, or none."""
    if not isinstance(rebase, bool):
        raise TypeError(f"rebase: expected True or False, got {type(rebase).__name__}")
    if chunk is None:
        if rebase:
            raise ValueError(f"{name}: expected one of {CHUNKS} with rebase, got None")
        return
    if isinstance(chunk, bool) or not isinstance(chunk, Integral):
        raise TypeError(f"{name}: expected an integer or None, got {type(chunk).__name__}")
    if chunk not in CHUNKS:
        raise ValueError(f"{name}: expected one of {CHUNKS}, got {chunk}")
