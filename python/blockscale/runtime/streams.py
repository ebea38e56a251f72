"""The stream that a function is launched on."""

from .arrays import loaded_torch, torch_stream
from .errors import ArgumentError

LEGACY = 0


def handle_of(stream):
    """The integer of a stream: of torch, of CuPy, of anything with `__cuda_stream__`, or an integer itself."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr"):
        if isinstance(getattr(stream, name, None), int):
            return getattr(stream, name)
    raise ArgumentError(
        f"stream: expected an integer, a stream of torch or CuPy, or an object with __cuda_stream__, got {stream!r}"
    )


def default_handle(values):
    """torch's current stream on the card of the first torch tensor; the default stream if there is none."""
    torch = loaded_torch()
    if torch:
        for value in values:
            if isinstance(value, torch.Tensor):
                ordinal = value.get_device()
                return torch_stream(torch, ordinal) if ordinal >= 0 else LEGACY
    return LEGACY
