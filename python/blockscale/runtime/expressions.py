"""Numbers of a launch, such as grids, that depend on arguments and on the card.

In a launch info they are JSON: a number, `{"size": {"arg": i, "dim": d}}`, `{"value": {"arg": i}}`,
`{"multiprocessors": n}`, `{OPERATION: [a, b]}`, or `{"select": [c, a, b]}` (docs/Programs.md, "Launch info"). Here
they become functions of the shapes of all arguments and of the number of multiprocessors; results have 64 bits.
"""

from .errors import ArgumentError

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
# Sizes, extents and indices are at most this.
MAX_NUMBER = 2**31 - 1
MAX_DIMENSION, MAX_PACKED = 63, 8


class Shapes(list):
    """The shapes of all arguments, in elements of their arrays, None for a number; `values` has numbers by argument.

    `results` has what expressions have been evaluated to, which share most of their parts.
    """

    def __init__(self, shapes, values=None):
        super().__init__(shapes)
        self.values = values or {}
        self.results = {}


class Size:
    """The size of an argument in a dimension, in elements. A packed one has `elements` of them in `bytes` bytes."""

    def __init__(self, node):
        fields = node.fields(("arg", "dim"), ("packed",))
        self.argument = fields["arg"].integer(0, MAX_NUMBER)
        self.dimension = fields["dim"].integer(0, MAX_DIMENSION)
        self.elements, self.bytes = read_packed(fields.get("packed"))

    def __call__(self, shapes, multiprocessors):
        where, shape = f"argument #{self.argument}", shapes[self.argument]
        if shape is None:
            raise ArgumentError(f"{where}: expected an array with the requested size, got a number")
        if self.dimension >= len(shape):
            raise ArgumentError(
                f"{where}: expected an array of at least {self.dimension + 1} dimensions, got shape {tuple(shape)}"
            )
        size = shape[self.dimension]
        if size > MAX_NUMBER // self.elements:
            raise ArgumentError(
                f"{where}: expected a size of at most {MAX_NUMBER // self.elements} in dimension {self.dimension}, got "
                f"{size}"
            )
        if size % self.bytes:
            raise ArgumentError(
                f"{where}: expected a multiple of {self.bytes} bytes in dimension {self.dimension}, got {size}"
            )
        return size // self.bytes * self.elements


def read_packed(node):
    """`[elements, bytes]`; 1 and 1 by default."""
    if node is None:
        return 1, 1
    elements, each = node.elements(2)
    return elements.integer(1, MAX_PACKED), each.integer(1, MAX_PACKED)


OPERATIONS = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "ceildiv": lambda a, b: -(-a // b),
    "floordiv": lambda a, b: a // b, "rem": lambda a, b: a % b, "min": min, "max": max,
    "eq": lambda a, b: int(a == b), "lt": lambda a, b: int(a < b),
}
# Operations whose second operand must be positive.
DIVISIONS = ("ceildiv", "floordiv", "rem")


class Expression:
    """A number that may depend on arguments (`arguments` of them, at least) and on the card.

    Call it with `Shapes` and the number of SMs. `values` are the arguments whose values it depends on.
    """

    def __init__(self, function, arguments=0, values=(), known=None):
        self.function, self.arguments, self.values, self.known = function, arguments, frozenset(values), known

    def __call__(self, shapes, multiprocessors):
        if self.known is not None:
            return self.known
        key = self, multiprocessors
        if key not in shapes.results:
            shapes.results[key] = self.function(shapes, multiprocessors)
        return shapes.results[key]


def constant(number):
    return Expression(lambda shapes, multiprocessors: number, known=number)


def of_size(size):
    return Expression(size, size.argument + 1)


def of_value(argument):
    def function(shapes, multiprocessors):
        value = shapes.values.get(argument)
        if shapes[argument] is not None or not isinstance(value, int):
            raise ArgumentError(f"argument #{argument}: expected an integer, got {value!r}")
        return value

    return Expression(function, argument + 1, (argument,))


def of_sms(factor):
    return Expression(lambda shapes, multiprocessors: factor * multiprocessors)


def operation(name, lhs, rhs):
    apply = OPERATIONS[name]

    def function(shapes, multiprocessors):
        a, b = lhs(shapes, multiprocessors), rhs(shapes, multiprocessors)
        if name in DIVISIONS and b < 1:
            raise ArgumentError(f"expected a positive divisor of {name}, got operands {a} and {b}")
        result = apply(a, b)
        if not INT64_MIN <= result <= INT64_MAX:
            raise ArgumentError(f"expected a result of 64 bits of {name}, got operands {a} and {b}")
        return result

    return Expression(function, max(lhs.arguments, rhs.arguments), lhs.values | rhs.values)


def select(condition, then, otherwise):
    """`then` if the condition is not 0, else `otherwise`; only that one is evaluated."""

    def function(shapes, multiprocessors):
        return (then if condition(shapes, multiprocessors) else otherwise)(shapes, multiprocessors)

    operands = (condition, then, otherwise)
    arguments = max(operand.arguments for operand in operands)
    return Expression(function, arguments, frozenset().union(*(operand.values for operand in operands)))


def read_expression(node, least=INT64_MIN, most=INT64_MAX):
    """Reads an expression; a constant must be from `least` to `most`. Objects that are the same make the same."""
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return constant(node.integer(least, most))
    expression = node.made.get(id(node.value))
    if expression is None:
        expression = node.made[id(node.value)] = _read_object(node)
    return expression


def _read_object(node):
    names = ("size", "value", "multiprocessors", *OPERATIONS, "select")
    if not isinstance(node.value, dict) or len(node.value) != 1:
        raise node.error(f"a number or an object of one field of {' '.join(names)}")
    [(name, field)] = node.fields((), tuple(names)).items()
    if name == "size":
        return of_size(Size(field))
    if name == "value":
        return of_value(field.fields(("arg",))["arg"].integer(0, MAX_NUMBER))
    if name == "multiprocessors":
        return of_sms(1 if field.value is None else field.integer(1, MAX_NUMBER))
    # An operand of an operation may be a size without "size".
    operands = [
        of_size(Size(operand)) if operand.has("arg") else read_expression(operand)
        for operand in field.elements(3 if name == "select" else 2)
    ]
    return select(*operands) if name == "select" else operation(name, *operands)
