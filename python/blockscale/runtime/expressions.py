"""Numbers of a launch that depend on arguments and on the card.

In a launch info they are JSON: a number, `{"size": {"arg": i, "dim": d}}`, `{"multiprocessors": n}`, or
`{"add"|"mul"|"ceildiv"|"min"|"max": [a, b]}` (docs/Programs.md, "Launch info"). Here they become functions of
the shapes of all arguments and of the number of multiprocessors; results have 64 bits.
"""

from .errors import ArgumentError

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
# Sizes, extents and indices are at most this.
MAX_NUMBER = 2**31 - 1
MAX_DIMENSION, MAX_PACKED = 63, 8


class Size:
    """The size of an argument in a dimension, in elements. A packed one has `bytes` bytes for each `codes` elements."""

    def __init__(self, node):
        fields = node.fields(("arg", "dim"), ("packed",))
        self.argument = fields["arg"].integer(0, MAX_NUMBER)
        self.dimension = fields["dim"].integer(0, MAX_DIMENSION)
        self.codes, self.bytes = read_packed(fields.get("packed"))

    def __call__(self, shapes, multiprocessors):
        where, shape = f"argument #{self.argument}", shapes[self.argument]
        if shape is None:
            raise ArgumentError(f"{where}: expected an array, whose size is asked for, got a number")
        if self.dimension >= len(shape):
            raise ArgumentError(
                f"{where}: expected an array of at least {self.dimension + 1} dimensions, got shape {tuple(shape)}"
            )
        size = shape[self.dimension]
        if size > MAX_NUMBER // self.codes:
            raise ArgumentError(
                f"{where}: expected a size of at most {MAX_NUMBER // self.codes} in dimension {self.dimension}, got "
                f"{size}"
            )
        if size % self.bytes:
            raise ArgumentError(
                f"{where}: expected a multiple of {self.bytes} bytes in dimension {self.dimension}, got {size}"
            )
        return size // self.bytes * self.codes


def read_packed(node):
    """`[codes, bytes]`, 1 and 1 where there is none."""
    if node is None:
        return 1, 1
    codes, each = node.elements(2)
    return codes.integer(1, MAX_PACKED), each.integer(1, MAX_PACKED)


def divide_up(lhs, rhs):
    if rhs < 1:
        raise ArgumentError(f"expected a positive divisor of ceildiv, got {rhs}")
    return -(-lhs // rhs)


OPERATIONS = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "ceildiv": divide_up, "min": min, "max": max}


class Expression:
    """A number that may depend on arguments (`arguments` of them, at least) and on the card.

    Call it with the shapes of all arguments, in elements of their arrays (None for a scalar), and the number of
    multiprocessors.
    """

    def __init__(self, function, arguments=0, sizes=(), known=None):
        self.function, self.arguments, self.sizes, self.known = function, arguments, sizes, known

    def __call__(self, shapes, multiprocessors):
        return self.function(shapes, multiprocessors)

    def empty_size(self, shapes, multiprocessors):
        """A `Size` that is 0, if there is one."""
        return next((size for size in self.sizes if size(shapes, multiprocessors) == 0), None)


def constant(number):
    return Expression(lambda shapes, multiprocessors: number, known=number)


def of_size(size):
    return Expression(size, size.argument + 1, (size,))


def of_multiprocessors(factor):
    return Expression(lambda shapes, multiprocessors: factor * multiprocessors)


def operation(name, lhs, rhs):
    apply = OPERATIONS[name]

    def function(shapes, multiprocessors):
        a, b = lhs(shapes, multiprocessors), rhs(shapes, multiprocessors)
        result = apply(a, b)
        if not INT64_MIN <= result <= INT64_MAX:
            raise ArgumentError(f"expected a result of 64 bits of {name}, got operands {a} and {b}")
        return result

    return Expression(function, max(lhs.arguments, rhs.arguments), lhs.sizes + rhs.sizes)


def read_expression(node, least=INT64_MIN, most=INT64_MAX):
    """Reads an expression; one that is a number is from `least` to `most`."""
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return constant(node.integer(least, most))
    names = ("size", "multiprocessors", *OPERATIONS)
    if not isinstance(node.value, dict) or len(node.value) != 1:
        raise node.error(f"a number or an object of one field of {' '.join(names)}")
    [(name, field)] = node.fields((), tuple(names)).items()
    if name == "size":
        return of_size(Size(field))
    if name == "multiprocessors":
        return of_multiprocessors(1 if field.value is None else field.integer(1, MAX_NUMBER))
    # Below an operation, a size may stand bare.
    operands = [
        of_size(Size(operand)) if operand.has("arg") else read_expression(operand) for operand in field.elements(2)
    ]
    return operation(name, *operands)
