"""Reading untrusted JSON: every value is checked, and a message names the path to it."""

import json

from .errors import BundleError


class Node:
    """A JSON value and its JSONPath, such as "$.entries[0].launch".

    `made` has what has been made of objects, by their identity. All nodes of one document share it.
    """

    __slots__ = ("value", "where", "made")

    def __init__(self, value, where="$", made=None):
        self.value, self.where, self.made = value, where, {} if made is None else made

    def error(self, what):
        got = self.value
        if isinstance(got, (list, dict)):
            got = f"{'an array' if isinstance(got, list) else 'an object'} of {len(got)}"
        else:
            got = f"'{got}'" if isinstance(got, str) else json.dumps(got)
            got = got if len(got) <= 80 else f"{got[:60]}..."
        return BundleError(f"{self.where}: expected {what}, got {got}")

    def has(self, name):
        return isinstance(self.value, dict) and name in self.value

    def fields(self, names, optional=()):
        """The fields of an object, by name; it must have `names`, and may have `optional` ones but no others."""
        if not isinstance(self.value, dict):
            raise self.error("an object")
        for name in names:
            if name not in self.value:
                raise BundleError(f"{self.where}: expected a field '{name}', got none")
        for name in self.value:
            if name not in names and name not in optional:
                raise BundleError(f"{self.where}: expected the fields {' '.join((*names, *optional))}, got {name!r}")
        return {name: Node(value, f"{self.where}.{name}", self.made) for name, value in self.value.items()}

    def elements(self, size=None, least=0):
        """The elements of an array of this size."""
        if not isinstance(self.value, list) or len(self.value) != (len(self.value) if size is None else size):
            raise self.error("an array" if size is None else f"an array of {size}")
        if len(self.value) < least:
            raise self.error(f"an array of at least {least}")
        return [Node(value, f"{self.where}[{i}]", self.made) for i, value in enumerate(self.value)]

    def integer(self, least, most):
        # True and False are integers of Python, but not of JSON.
        is_integer = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not is_integer or not least <= self.value <= most:
            raise self.error(f"an integer from {least} to {most}")
        return self.value

    def name(self):
        if not isinstance(self.value, str) or not self.value:
            raise self.error("a string that is not empty")
        return self.value

    def boolean(self):
        if not isinstance(self.value, bool):
            raise self.error("true or false")
        return self.value

    def choice(self, names):
        if not isinstance(self.value, str) or self.value not in names:
            raise self.error(f"one of {' '.join(names)}")
        return self.value
