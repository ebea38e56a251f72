"""Writes .npy files: save.py FILE EXPRESSION [FILE EXPRESSION]...

Expressions see numpy's names.
"""

import sys

import numpy

arguments = sys.argv[1:]
for path, expression in zip(arguments[::2], arguments[1::2]):
    numpy.save(path, eval(expression, vars(numpy).copy()))
