"""The exceptions of the runtime.

Every message says what was expected and what was given. All derive from `BlockscaleError`, and from the built-in
exception that a caller would expect.
"""


class BlockscaleError(Exception):
    """The base class of all exceptions of this package."""


class BundleError(BlockscaleError, ValueError):
    """A file that is not a complete bundle, has an unknown version, or differs from docs/Bundle.md."""


class MissingFunctionError(BlockscaleError, KeyError):
    """A bundle does not have the function."""

    # str(KeyError) would put the message in quotes.
    __str__ = Exception.__str__


class ArgumentError(BlockscaleError, ValueError):
    """An argument, a result or a stream that does not fit; the message names it."""


class ImageError(BlockscaleError, RuntimeError):
    """A bundle has no code for the card, or the code does not match its launch info."""


class DriverError(BlockscaleError, RuntimeError):
    """No CUDA driver, no card, or a call of the driver that failed."""


class CaptureError(BlockscaleError, RuntimeError):
    """Something that is impossible while a graph is captured, such as an allocation."""
