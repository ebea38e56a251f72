"""Builders of ops: those of blockscale, and of MLIR's dialects that programs around them need.

A function is named as the op, takes operands first, then attributes by keyword, and gives the result: a Value, several,
or, of an op without results, the Operation. Numbers and lists stand for attributes where an op takes such. `loc` and
`ip` are as those of `ir.Operation.create`, which builds any other op.
"""
