"""What can go wrong at run time, as exceptions.

Every message says what was expected and what came. All derive from `BlockscaleError`, and from the built-in
exception that a caller would look for.
"""


class BlockscaleError(Exception):
    """What this package raises."""


class BundleError(BlockscaleError, ValueError):
    """A file that is no whole bundle, of a version that this package does not know, or not as docs/Bundle.md says."""


class MissingFunctionError(BlockscaleError, KeyError):
    """A bundle has no such function."""

    # KeyError would print its message in quotes.
    __str__ = Exception.__str__


class ArgumentError(BlockscaleError, ValueError):
    """An argument, a result or a stream that does not fit; the message names it."""


class ImageError(BlockscaleError, RuntimeError):
    """A bundle has no code for the card, or not as its launch info says."""


class DriverError(BlockscaleError, RuntimeError):
    """No CUDA driver, no card, or a call of the driver that failed."""


class CaptureError(BlockscaleError, RuntimeError):
    """What cannot be done while a graph is captured, such as an allocation."""
