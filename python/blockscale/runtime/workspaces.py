"""Workspaces: memory that the kernels of a function share while they run.

Functions on one stream run one after the other and share one workspace; each stream has its own. A captured graph
keeps the addresses as long as it lives, and its replays may run concurrently with anything. So it has a workspace of
its own, which must be allocated before the capture starts and is never reused.
"""

import threading

from .driver import PER_THREAD_STREAM
from .errors import CaptureError


class Workspaces:
    """The workspaces of a card. In every call, the card's lock is held and its context is current."""

    def __init__(self, device):
        self._device = device
        # (size, address) by stream, and by capture.
        self._streams = {}
        self._captures = {}
        # Free ones, smallest first.
        self._spares = []

    def get(self, size, stream):
        """The address of at least `size` bytes for the next work on `stream`, or for its capture."""
        capture = self._device.capture_id(stream)
        if capture:
            return self._of_capture(size, (capture, stream))
        key = (stream, threading.get_ident()) if stream == PER_THREAD_STREAM else stream
        there, address = self._streams.get(key, (0, None))
        if there < size:
            if address is not None:
                self._device.synchronize(stream)
                self._device.free(address)
                # If the allocation below fails, the freed memory must not be left in the table.
                del self._streams[key]
            # Round up, so that sizes that grow in small steps do not allocate each time.
            size = max(size, there * 3 // 2)
            address = self._device.allocate(size)
            self._streams[key] = size, address
        return address

    def _of_capture(self, size, key):
        """Branches of a graph may run at the same time, and have different streams while they are captured."""
        owned = self._captures.setdefault(key, [])
        for there, address in owned:
            if there >= size:
                return address
        for i, (there, address) in enumerate(self._spares):
            if there >= size:
                owned.append(self._spares.pop(i))
                return address
        raise CaptureError(
            f"expected a workspace of {size} bytes that was allocated before the graph is captured, got none: call "
            "prepare() of the function, with its shapes, in front of each capture"
        )

    def prepare(self, size, count):
        """Makes sure that `count` captures find a workspace of `size` bytes."""
        missing = count - sum(there >= size for there, _ in self._spares)
        for _ in range(max(missing, 0)):
            self._spares.append((size, self._device.allocate(size)))
        self._spares.sort()
