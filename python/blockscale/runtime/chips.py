"""Which code a card can run, and which code is best.

PTX for `sm_90a` runs on compute capability 9.0 only, PTX for `sm_100f` on this and later chips of the family (10.0,
10.3), PTX for `sm_80` on all later chips. Machine code (a cubin) runs on its own chip only.
"""

import re

from .errors import ImageError

# Targets with more features of the chip are better.
LETTERS = {"": 0, "f": 1, "a": 2}


def parse_target(target):
    """The number and the letter: 90 and "a" of "sm_90a"; None of other names."""
    match = re.fullmatch(r"sm_(\d+)([af]?)", target)
    return (int(match[1]), match[2]) if match else None


def can_run(target, kind, capability):
    """Whether a card of this compute capability (90 is 9.0) runs PTX or a cubin for a target."""
    parsed = parse_target(target)
    if not parsed:
        return False
    number, letter = parsed
    if kind == "cubin" or letter == "a":
        return capability == number
    if letter == "f":
        return capability >= number and capability // 10 == number // 10
    return capability >= number


def choose(entries, capability):
    """The entry and the image for a card: the newest target that it runs, the most specific code of that target, and
    a cubin, which need not be compiled, before PTX."""
    def rank(pair):
        entry, image = pair
        number, letter = parse_target(entry.info.target)
        return number, LETTERS[letter], image.kind == "cubin"

    pairs = [
        (entry, image) for entry in entries for image in entry.images
        if can_run(entry.info.target, image.kind, capability)
    ]
    if not pairs:
        there = ", ".join(f"{entry.info.target} ({' and '.join(i.kind for i in entry.images)})" for entry in entries)
        raise ImageError(
            f"function '{entries[0].function}': expected code that runs on the card's sm_{capability}, got {there}"
        )
    return max(pairs, key=rank)
