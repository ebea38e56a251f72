"""Pictures of the layouts that `blockscale-compile --print-layout` prints.

The program computes the position of each element from the compiler's tables; this file only draws.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any, Dict, List, Tuple

# Sizes in pixels.
_CHARACTER, _LINE, _PAD, _MARGIN = 7, 16, 6, 12
_REGION_WIDTH, _REGION_HEIGHT, _LABEL = 768, 24, 96
# Neighbouring numbers get hues far apart; 137.5 degrees is the golden angle.
_HUE_STEP = 137.5
# The prefix of each coordinate.
_MARKS = {"block": "B", "lane": "T", "register": "r", "slot": "s", "column": "c", "byte": "b"}


class _Svg:
    """Shapes, and the size of the picture."""

    def __init__(self):
        self.parts: List[str] = []
        self.width = self.height = 0

    def text(self, x: float, y: float, text: str, anchor: str = "start", weight: str = "normal"):
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="#000">{escape(text)}</text>'
        )
        if anchor == "start":
            self.width = max(self.width, x + len(text) * _CHARACTER)
        self.height = max(self.height, y + _PAD)

    def box(self, x: float, y: float, width: float, height: float, color: str, title: str):
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{color}" '
            f'stroke="#888" stroke-width="0.5"><title>{escape(title)}</title></rect>'
        )
        self.width, self.height = max(self.width, x + width), max(self.height, y + height)

    def __str__(self):
        width, height = self.width + _MARGIN, self.height + _MARGIN
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="monospace" font-size="11">'
            f'<rect width="100%" height="100%" fill="#fff"/>'
        )
        return "\n".join([head, *self.parts, "</svg>"])


def _color(number: float) -> str:
    return f"hsl({number * _HUE_STEP % 360:.0f},70%,85%)"


def _shade(grid: Dict[str, Any], position: List[int], most: int) -> str:
    """The color of a cell: one hue per lane, or the order in memory for bytes."""
    if grid["coordinates"][0] == "byte":
        return f"hsl({300 * position[0] / max(most, 1):.0f},70%,85%)"
    return _color(position[0])


def _draw_grid(svg: _Svg, grid: Dict[str, Any], top: float) -> float:
    """Draws a grid from `top` on; returns where it ends."""
    rows, columns = grid["rows"], grid["columns"]
    per_row = columns["size"] // grid["run"]
    cells = grid["cells"]
    labels = [
        " ".join(_MARKS[c] + str(n) for c, n in zip(grid["coordinates"], position)) for position in cells
    ]
    width = max(map(len, labels)) * _CHARACTER + _PAD
    left = _MARGIN + 6 * _CHARACTER
    step = grid["run"] * grid["unit"]
    svg.text(_MARGIN, top + _LINE, grid["title"], weight="bold")
    svg.text(
        _MARGIN,
        top + 2 * _LINE,
        f"{rows['name']} down, {columns['name']} across, a cell is {step} of {columns['name']}: "
        + ", ".join(grid["coordinates"]) + " of the first",
    )
    top += 3 * _LINE
    for i in range(per_row):
        svg.text(left + (i + 0.5) * width, top, str(i * step), anchor="middle")
    most = max(position[0] for position in cells)
    for number, (position, label) in enumerate(zip(cells, labels)):
        row, column = divmod(number, per_row)
        x, y = left + column * width, top + _PAD + row * _LINE
        first = column * step
        last = f" to {first + step - 1}" if step > 1 else ""
        title = f"{rows['name']} {row}, {columns['name']} {first}{last}: " + ", ".join(
            f"{c} {n}" for c, n in zip(grid["coordinates"], position)
        )
        svg.box(x, y, width, _LINE, _shade(grid, position, most), title)
        svg.text(x + width / 2, y + _LINE - 4, label, anchor="middle")
        if column == 0:
            svg.text(left - _PAD, y + _LINE - 4, str(row), anchor="end")
    return svg.height + _LINE


def _draw_regions(svg: _Svg, regions: List[Dict[str, Any]], columns: int, top: float) -> float:
    """Draws columns of tensor memory from `top` on, a line for each region; returns where they end."""
    scale = _REGION_WIDTH / columns
    left = _MARGIN + _LABEL
    svg.text(_MARGIN, top + _LINE, f"tensor memory, {columns} columns of all lanes", weight="bold")
    top += 2 * _LINE
    for number, region in enumerate(regions):
        first, size, step = region["first"], region["columns"], region["step"]
        svg.text(_MARGIN, top + _LINE, region["name"])
        svg.box(left, top, _REGION_WIDTH, _REGION_HEIGHT, "#fff", "all columns")
        title = f"{region['name']}: columns {first} to {first + size - 1}"
        further = f", the next {step} further" if step else ""
        svg.box(left + first * scale, top, size * scale, _REGION_HEIGHT, _color(number), title)
        svg.text(left, top + _REGION_HEIGHT + _LINE - 4, title + further)
        top += _REGION_HEIGHT + 2 * _LINE
    return top


class Layout:
    """A layout of a kernel: `str` gives text, and a notebook shows a picture.

    name     "a", "scale_a", "b", "scale_b", "accumulator", "shared" or "tmem"
    kernels  for each kernel that has it, the object of --layout-format=json (docs/Programs.md)
    """

    def __init__(self, name: str, kernels: List[Dict[str, Any]], tensor_columns: int):
        self.name = name
        self.kernels = kernels
        self._tensor_columns = tensor_columns

    @classmethod
    def from_json(cls, name: str, text: bytes) -> "Layout":
        """The layout from the output of the program."""
        data = json.loads(text)
        kernels = [kernel for kernel in data["kernels"] if kernel["layouts"]]
        return cls(name, kernels, data["tensor_columns"])

    def _layouts(self) -> List[Tuple[Dict[str, Any], Dict[str, Any]]]:
        return [(kernel, layout) for kernel in self.kernels for layout in kernel["layouts"]]

    def __str__(self):
        return "".join(layout["text"] for _, layout in self._layouts()).rstrip("\n")

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        svg, top = _Svg(), float(_MARGIN)
        for kernel, layout in self._layouts():
            shape = "x".join(map(str, kernel["shape"]))
            head = f"{layout['name']} of @{kernel['name']}, {kernel['instruction']} {shape}"
            svg.text(_MARGIN, top + _LINE, head, weight="bold")
            top += 2 * _LINE
            for grid in layout["grids"]:
                top = _draw_grid(svg, grid, top)
            if layout["regions"]:
                top = _draw_regions(svg, layout["regions"], self._tensor_columns, top)
        return str(svg)
