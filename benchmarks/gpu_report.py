"""The table and the plot of what gpu.py has measured."""

import math

from gpu_cases import DEFAULT_FORMATS, Case

# By their names in the file; the first one is what others are compared with.
CONTENDERS = {
    "ours": "ours", "triton": "Triton, best", "torch bf16": "torch bf16", "torch fp8": "torch fp8, one scale",
    "torch blocks": "torch, block scales",
}
COLORS = {"ours": "#d62728", "triton": "#1f77b4", "torch bf16": "#2ca02c", "torch fp8": "#9467bd",
          "torch blocks": "#8c564b"}
# Of a column of the table.
WIDTH = 21


def case_of(found):
    return Case(found["format"], found["m"], found["n"], found["k"])


def tera(case, result):
    """TFLOP/s, counting 2 * M * N * K."""
    return case.flops / result["us"] * 1e-6


def number(value):
    """Three digits or more."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def factor(value):
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def excess(result):
    return result["excess"] if isinstance(result["excess"], str) else f"{result['excess']:.2g}"


def cell(case, result, ours=None):
    """Time and rate; of others also their time over ours: above 1 where ours is faster."""
    if result is None:
        return "not asked for"
    if "missing" in result:
        return "not there"
    if result["wrong"]:
        return f"WRONG ({excess(result)} of bound)"
    text = f"{number(result['us'])} us {number(tera(case, result))}"
    if ours is None or "missing" in ours or ours["wrong"]:
        return text
    return f"{text} {factor(result['us'] / ours['us'])}x"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def format_row(found):
    """One line of the table."""
    case, results = case_of(found), found["contenders"]
    ours = results.get("ours", {"missing": ""})
    error = "-" if "missing" in ours else excess(ours)
    cells = [cell(case, results.get(name), None if name == "ours" else ours) for name in CONTENDERS]
    return f"{case.size:17} {cells[0]:>{WIDTH}} {error:>8} " + " ".join(f"{text:>{WIDTH}}" for text in cells[1:])


def header():
    first, *others = CONTENDERS.values()
    return f"{'M x N x K':17} {first:>{WIDTH}} {'error':>8} " + " ".join(f"{title:>{WIDTH}}" for title in others)


def means(cases):
    """The last line: geometric means of the ratios, and of how many."""
    texts = []
    for name in list(CONTENDERS)[1:]:
        ratios = [
            found["contenders"][name]["us"] / found["contenders"]["ours"]["us"] for found in cases
            if all("us" in found["contenders"].get(who, {}) and not found["contenders"][who]["wrong"]
                   for who in ("ours", name))
        ]
        texts.append(f"{factor(geometric_mean(ratios))}x ({len(ratios)})" if ratios else "-")
    return f"{'geometric mean':17} {'':>{WIDTH}} {'':>8} " + " ".join(f"{text:>{WIDTH}}" for text in texts)


def notes(results):
    """Why something is not there, what was wrong, and which of Triton's configurations was best."""
    reasons, wrong, best, left_out = {}, [], {}, {}
    for found in results["cases"]:
        case = case_of(found)
        for name, result in found["contenders"].items():
            if "missing" in result:
                who, names = reasons.setdefault(result["missing"], ({}, {}))
                who[CONTENDERS[name]] = names[case.name] = None
            elif result["wrong"]:
                wrong.append(f"{case.name}, {CONTENDERS[name]}: error {excess(result)} times the bound")
            elif name == "triton":
                best.setdefault(result["detail"], []).append(case.name)
            for config, tried in result.get("tried", {}).items():
                if tried.get("missing") or tried.get("wrong"):
                    why = tried.get("missing") or f"wrong, {excess(tried)} of the bound"
                    left_out.setdefault(why, []).append(f"{case.name}, {config}")
    lines = [f"WRONG: {text}" for text in wrong]
    lines += [f"not there: {'; '.join(who)}: {why}: {few(list(names))}" for why, (who, names) in reasons.items()]
    lines += [f"Triton left out: {why}: {few(names)}" for why, names in left_out.items()]
    lines += [f"Triton's best: {config}: {few(names)}" for config, names in best.items()]
    return lines


def few(names):
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def formats_of(results):
    present = [found["format"] for found in results["cases"]]
    return list(dict.fromkeys([name for name in DEFAULT_FORMATS if name in present] + present))


def title(results):
    return f"{results['card']}, PTX for {results['target']}"


def table(results):
    """The text of the table: a part for each format, then notes."""
    lines = [
        f"{title(results)}; torch {results['torch']}, Triton {results['triton'] or 'not there'}",
        "Each: time, TFLOP/s; of others also their time over ours. The error is the share of its bound.",
    ]
    for format in formats_of(results):
        cases = [found for found in results["cases"] if found["format"] == format]
        lines += ["", format, header(), *map(format_row, cases), means(cases)]
    return "\n".join([*lines, "", *notes(results)]) + "\n"


def points(results, format):
    """Sizes, and {contender: [(index of the size, TFLOP/s, is wrong)]}, of what was measured."""
    cases = [found for found in results["cases"] if found["format"] == format]
    found_points = {
        name: [
            (i, tera(case_of(found), found["contenders"][name]), found["contenders"][name]["wrong"])
            for i, found in enumerate(cases) if "us" in found["contenders"].get(name, {})
        ]
        for name in CONTENDERS
    }
    return [case_of(found).size for found in cases], {name: p for name, p in found_points.items() if p}


def plot(results, path):
    """TFLOP/s by size, a panel for each format; what is wrong is a cross. ValueError for a type without means."""
    try:
        import matplotlib
    except ImportError:
        if path.suffix != ".svg":
            raise ValueError(f"only .svg can be drawn without matplotlib, got {path.name!r}") from None
        path.write_text(draw_svg(results))
        return
    matplotlib.use("Agg")
    draw_matplotlib(results, path)


def draw_matplotlib(results, path):
    import matplotlib.pyplot as plt

    formats = formats_of(results)
    figure, panels = plt.subplots(len(formats), 1, figsize=(12, 4 * len(formats)), squeeze=False)
    for format, panel in zip(formats, panels[:, 0]):
        sizes, lines = points(results, format)
        for name, line in lines.items():
            panel.plot([i for i, _, bad in line if not bad], [y for _, y, bad in line if not bad], "o",
                       color=COLORS[name], label=CONTENDERS[name])
            panel.plot([i for i, _, bad in line if bad], [y for _, y, bad in line if bad], "x", color=COLORS[name])
        panel.set_title(f"{format}, {title(results)}")
        panel.set_yscale("log")
        panel.set_ylabel("TFLOP/s")
        panel.set_xticks(range(len(sizes)), sizes, rotation=60, ha="right")
        panel.grid(alpha=0.3)
        if lines:
            panel.legend()
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


# Of a panel of the SVG, in pixels: size, and what is left for the axes.
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 1000, 420, 60, 40, 130, 200


def draw_svg(results):
    """The same without matplotlib."""
    formats = formats_of(results)
    height = PANEL_HEIGHT * len(formats)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{PANEL_WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{PANEL_WIDTH}" height="{height}" fill="white"/>',
    ]
    for i, format in enumerate(formats):
        parts += [f'<g transform="translate(0,{i * PANEL_HEIGHT})">', *draw_panel(results, format), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def draw_panel(results, format):
    sizes, lines = points(results, format)
    rates = [y for line in lines.values() for _, y, _ in line] or [1.0]
    low, high = math.floor(math.log10(min(rates))), math.floor(math.log10(max(rates))) + 1
    bottom, right = PANEL_HEIGHT - BOTTOM, PANEL_WIDTH - RIGHT

    def at(i, rate):
        x = LEFT + (i + 0.5) * (right - LEFT) / len(sizes)
        return x, bottom - (math.log10(rate) - low) / (high - low) * (bottom - TOP)

    yield f'<text x="{LEFT}" y="20" font-size="14">{format}, {title(results)}: TFLOP/s</text>'
    for power in range(low, high + 1):
        y = at(0, 10.0**power)[1]
        yield f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ccc"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
    for i, size in enumerate(sizes):
        x = at(i, 10.0**low)[0]
        yield f'<text transform="translate({x:.1f},{bottom + 14}) rotate(-60)" text-anchor="end">{size}</text>'
    for row, (name, line) in enumerate(lines.items()):
        yield f'<circle cx="{right + 14}" cy="{TOP + 18 * row}" r="4" fill="{COLORS[name]}"/>'
        yield f'<text x="{right + 24}" y="{TOP + 18 * row + 4}">{CONTENDERS[name]}</text>'
        for i, rate, is_wrong in line:
            x, y = at(i, rate)
            if is_wrong:
                yield (f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{COLORS[name]}" '
                       'stroke-width="2"/>')
            else:
                yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLORS[name]}"/>'
