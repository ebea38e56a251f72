"""Prints a module that nests deeply: nest.py KIND DEPTH."""

import sys

kind, depth = sys.argv[1], int(sys.argv[2])
if kind == "attributes":
    # The braces of the module and of its attributes are two levels.
    inner = depth - 1
    print("module attributes {test.a = " + "[" * inner + "]" * inner + "} {}")
elif kind == "regions":
    print("module {\n" * depth + "}\n" * depth)
elif kind == "aliases":
    # Every alias adds one bracket.
    print("#a0 = []")
    for i in range(1, depth):
        print(f"#a{i} = [#a{i - 1}]")
    print(f"module attributes {{test.a = #a{depth - 1}}} {{}}")
elif kind == "minus":
    print("#m = affine_map<(d0) -> (" + "-" * depth + "d0)>")
elif kind == "string":
    print('module attributes {test.a = "' + "[" * depth + '"} {}')
elif kind == "comment":
    print("// " + "(" * depth + "\nmodule {}")
