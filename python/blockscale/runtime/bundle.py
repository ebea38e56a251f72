"""Bundles as mappings from names to functions."""

from collections.abc import Mapping

from .bundle_file import read_bundle
from .errors import BundleError, MissingFunctionError
from .kernel import Kernel


class Bundle(Mapping):
    """The functions of a bundle: `bundle["name"]` is a `Kernel`."""

    def __init__(self, path, entries):
        self.path = path
        by_name = {}
        for entry in entries:
            by_name.setdefault(entry.function, []).append(entry)
        for name, of_name in by_name.items():
            _check_alike(path, name, of_name)
        self._kernels = {name: Kernel(name, of_name) for name, of_name in by_name.items()}

    def __getitem__(self, name):
        if name not in self._kernels:
            raise MissingFunctionError(f"'{self.path}': expected one of {' '.join(self)}, got {name!r}")
        return self._kernels[name]

    def __contains__(self, name):
        return name in self._kernels

    def __iter__(self):
        return iter(self._kernels)

    def __len__(self):
        return len(self._kernels)

    def __repr__(self):
        return f"<blockscale bundle '{self.path}' of {', '.join(self)}>"


def _check_alike(path, name, entries):
    """Checks that a function has the same signature on all chips."""
    def signature(entry):
        info = entry.info
        return info.num_arguments, [
            (each.type, each.dtype, len(each.shape), each.elements, each.bytes) for each in info.operands
        ]

    for entry in entries[1:]:
        if signature(entry) != signature(entries[0]):
            raise BundleError(
                f"'{path}': function '{name}': expected the same arguments and results for {entry.info.target} as for "
                f"{entries[0].info.target}"
            )


def load(path):
    """The bundle at a path: a mapping from names of functions to `Kernel`s.

    Checks the whole file, and touches no card. Raises BundleError for anything but a complete bundle of version 1,
    OSError for a file that cannot be read.
    """
    return Bundle(str(path), read_bundle(path))
