"""Lines of kernels that synchronise, which end in `// sync: NAME`, and kernels without one of them."""

import re

SEEDS = range(8)  # one of which must show that a line is missing
LINE = re.compile(r"// sync: (.*)$")


def removals(text):
    """(name of the line, text without it)."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if match := LINE.search(line):
            yield match[1], "\n".join(lines[:i] + lines[i + 1 :])
