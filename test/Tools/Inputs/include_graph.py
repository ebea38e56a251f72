"""The folders of FOLDER as a graph of includes: how many there are, how many include another one, and how many floors
the highest stands on. A circle is an error.

usage: include_graph.py ROOT FOLDER, where includes are relative to ROOT
"""

import graphlib
import pathlib
import re
import sys

root, folder = pathlib.Path(sys.argv[1]), sys.argv[2]
graph = {}
for path in sorted((root / folder).rglob("*")):
    if path.suffix not in (".h", ".cpp"):
        continue
    here = path.parent.relative_to(root)
    below = graph.setdefault(here, set())
    for name in re.findall(r'#include "([^"]+)"', path.read_text()):
        there = pathlib.Path(name).parent
        if (root / name).is_file() and name.startswith(folder + "/") and there != here:
            below.add(there)

try:
    order = list(graphlib.TopologicalSorter(graph).static_order())
except graphlib.CycleError as error:
    sys.exit("error: folders include each other: " + " <- ".join(str(each) for each in error.args[1]))
floors = {}
for each in order:
    floors[each] = 1 + max((floors[below] for below in graph[each]), default=0)
print(f"{len(graph)} folders, {sum(map(len, graph.values()))} arrows, {max(floors.values())} floors")
