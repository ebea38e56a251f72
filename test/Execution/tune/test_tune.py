"""blockscale-run --tune without a card: the driver of test/FakeCuda, whose times go by shared memory."""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
RUN = BUILD / "bin" / "blockscale-run"
FAKE_DRIVER = BUILD / "test" / "FakeCuda"
TIMEOUT_S = 300

ROW = re.compile(r" *(?P<ms>\d+\.\d{4}|-) +(?P<ratio>\d+\.\d{3}|-)  (?P<text>tile=[^ :]*)(?P<note>.*)")


class Row(NamedTuple):
    ms: float
    ratio: float
    text: str
    note: str


class Table(NamedTuple):
    title: str
    rows: list
    attribute: str  # what is to be written into the program
    flag: str
    tuned: str  # the row of TunedRows.cpp, if a table chooses such schedules

    @property
    def fastest(self):
        return next(row for row in self.rows if f"--schedule={row.text}" == self.flag)


def mma(m, n, k, attributes="", name="%d", acc="%acc"):
    return f"""  {name} = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, {acc} {attributes}
      : tensor<{m}x{k}xf8E4M3FN>, tensor<{m}x{k // 32}xf8E8M0FNU>,
        tensor<{k}x{n}xf8E4M3FN>, tensor<{k // 32}x{n}xf8E8M0FNU>, tensor<{m}x{n}xf32>
"""


def program(m, n, k, body, acc="%acc: tensor<{m}x{n}xf32>"):
    return f"""func.func @main(%x: tensor<{m}x{k}xf8E4M3FN>, %x_scale: tensor<{m}x{k // 32}xf8E8M0FNU>,
    %y: tensor<{k}x{n}xf8E4M3FN>, %y_scale: tensor<{k // 32}x{n}xf8E8M0FNU>{acc and ", " + acc.format(m=m, n=n)})
    -> tensor<{m}x{n}xf32> {{
{body}  return %d : tensor<{m}x{n}xf32>
}}
"""


def run(folder, text, *flags, **settings):
    source = folder / "program.mlir"
    source.write_text(text)
    return subprocess.run(
        [RUN, source, "--device=cuda", "--seed=1", *flags], capture_output=True, text=True, timeout=TIMEOUT_S,
        check=False, env={**os.environ, "LD_LIBRARY_PATH": str(FAKE_DRIVER), "FAKE_CUDA_TIME": "shared", **settings},
    )


def tune(folder, text, *flags, **settings):
    """The tables that it prints."""
    done = run(folder, text, "--tune", *flags, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    lines, tables = iter(done.stdout.splitlines()), []
    for title in lines:
        if title.startswith("  TunedRows.cpp: "):
            tables[-1] = tables[-1]._replace(tuned=title.split(": ", 1)[1])
            continue
        assert next(lines).split() == ["ms", "ratio", "schedule"]
        rows = []
        while match := ROW.fullmatch(line := next(lines)):
            ms, ratio = (None if number == "-" else float(number) for number in match.group("ms", "ratio"))
            rows.append(Row(ms, ratio, match["text"], match["note"]))
        assert line.startswith("fastest: ")
        tables.append(Table(title, rows, next(lines).strip(), next(lines).strip(), ""))
    return tables


def last_time(folder, text, *flags, **settings):
    """The time of the last kernel of a run without --tune: 1 ms, and one for each KiB of shared memory."""
    trace = folder / "trace"
    trace.unlink(missing_ok=True)
    done = run(folder, text, *flags, FAKE_CUDA_TRACE=str(trace), **settings)
    assert done.returncode == 0, done.stderr
    launched = re.findall(r"^launch .* shared (\d+):", trace.read_text(), re.MULTILINE)
    return pytest.approx(1 + int(launched[-1]) / 1024, abs=1e-4)


@pytest.mark.parametrize("capability", ["80", "90", "100", "120"])
def test_fastest(tmp_path, capability):
    """The times are right, and what is printed for the fastest is taken when it is written down."""
    m, n, k = 256, 256, 512
    (table,) = tune(tmp_path, program(m, n, k, mma(m, n, k)), FAKE_CUDA_CAPABILITY=capability)
    assert table.title.startswith(f"{tmp_path / 'program.mlir'}:4:8: blockscale.mma_scaled, ")
    first, *others = table.rows
    assert first.note == " (default)" and first.ratio == 1
    assert len(others) > 5 and len({row.text for row in table.rows}) == len(table.rows)
    right = [row for row in table.rows if not row.note or row is first]
    assert all(row.ratio == pytest.approx(row.ms / first.ms, abs=1e-3) for row in table.rows)
    assert table.fastest.ms == min(row.ms for row in right) < first.ms
    plain, card = program(m, n, k, mma(m, n, k)), dict(FAKE_CUDA_CAPABILITY=capability)
    assert first.ms == last_time(tmp_path, plain, **card)
    written = program(m, n, k, mma(m, n, k, f"{{{table.attribute}}}"))
    assert table.fastest.ms == last_time(tmp_path, written, **card)
    assert table.fastest.ms == last_time(tmp_path, plain, table.flag, **card)
    # It is the default of the program that it is written into.
    if capability != "90":  # which has most to try
        (again,) = tune(tmp_path, written, **card)
        assert again.rows[0] == Row(table.fastest.ms, 1, table.fastest.text, " (default)")


def test_every_text_is_taken(tmp_path):
    """Also those with parts that may be left out: clusters, split_k, swapped operands."""
    m, n, k = 32, 256, 2048
    seen = ""
    text = program(m, n, k, mma(m, n, k))
    for capability in ("90", "100"):
        (table,) = tune(tmp_path, text, FAKE_CUDA_CAPABILITY=capability)
        for row in table.rows[::10]:
            time = last_time(tmp_path, text, f"--schedule={row.text}", FAKE_CUDA_CAPABILITY=capability)
            assert row.ms == time, row
        seen += " ".join(row.text for row in table.rows)
        if capability == "90" and "swap_ab=1" in table.flag:
            check_row(table, m, 8)
        elif capability == "90" and "warps=" in table.flag and "split_k=" in table.flag:
            assert table.tuned.startswith("{90, Path::DequantMma, ")
        else:
            assert not table.tuned
    assert all(part in seen for part in (",cluster=2x1", ",split_k=", ",swap_ab=1"))


@pytest.mark.parametrize("m", [16, 256])
def test_products_without_scales(tmp_path, m):
    """Large tiles with 32 and 64 elements along K, or split-K for few rows; no row of the table has these."""
    n, k = 256, 2048
    text = f"""func.func @main(%x: tensor<{m}x{k}xbf16>, %y: tensor<{k}x{n}xbf16>, %acc: tensor<{m}x{n}xf32>)
    -> tensor<{m}x{n}xf32> {{
  %d = linalg.matmul ins(%x, %y : tensor<{m}x{k}xbf16>, tensor<{k}x{n}xbf16>) outs(%acc : tensor<{m}x{n}xf32>)
       -> tensor<{m}x{n}xf32>
  return %d : tensor<{m}x{n}xf32>
}}
"""
    (table,) = tune(tmp_path, text, FAKE_CUDA_CAPABILITY="80")
    assert table.title.endswith("linalg.matmul, dequant_mma on sm_80")
    assert not table.tuned
    texts = [row.text for row in table.rows]
    wanted = ["tile=16x128x64,warps=1x4,", ",split_k=8"] if m == 16 else ["tile=128x256x64,warps=2x4,", "x32,"]
    assert all(any(part in text for text in texts) for part in wanted)
    assert table.fastest.ms == last_time(tmp_path, text, table.flag, FAKE_CUDA_CAPABILITY="80")


def test_sparse(tmp_path):
    """Tiles whose stages do not fit shared memory are left out."""
    m, n, k = 1024, 480, 1024
    types = (f"tensor<{m}x{k // 2}xf4E2M1FN>, tensor<{m}x{k // 8}xi8>, tensor<{m}x{k // 32}xf8E8M0FNU>, "
             f"tensor<{k}x{n}xf4E2M1FN>, tensor<{k // 32}x{n}xf8E8M0FNU>, tensor<{m}x{n}xf32>")
    stored = types.replace(f"tensor<{k}x{n}xf4E2M1FN>", f"tensor<{n}x{k}xf4E2M1FN>").split(", ")
    arguments = ", ".join(f"%{i}: {kind}" for i, kind in enumerate(stored))
    text = f"""func.func @main({arguments}) -> tensor<{m}x{n}xf32> {{
  %e = tensor.empty() : tensor<{k}x{n}xf4E2M1FN>
  %y = linalg.transpose ins(%3 : {stored[3]}) outs(%e : tensor<{k}x{n}xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.sparse_mma_scaled %0, %1, %2, %y, %4, %5
       {{granularity = #blockscale.granularity<2:4>, block_size = 32 : i64, legal_metadata}} : {types}
  return %d : tensor<{m}x{n}xf32>
}}
"""
    (table,) = tune(tmp_path, text, FAKE_CUDA_CAPABILITY="90")
    tiles = [row.text.split(",")[0] for row in table.rows if "kernel=sparse_input" in row.text]
    assert "tile=128x128x256" in tiles and not any(tile.startswith("tile=64x256") for tile in tiles)


def test_row_of_the_table(tmp_path):
    """What is printed for a schedule that a table chooses has the fields of its rows, which are C++."""
    m, n, k = 32, 256, 2048
    own = ("{blockscale.path = #blockscale.path<dequant_mma>, blockscale.schedule = #blockscale.multistage_schedule<"
           "tile = [32, 128, 128], warps = [1, 4], stages = 2, split_k = 8>}")
    # All take as long, and the first is kept.
    (table,) = tune(tmp_path, program(m, n, k, mma(m, n, k, own)), FAKE_CUDA_CAPABILITY="80", FAKE_CUDA_TIME="same")
    assert table.fastest is table.rows[0]
    # 16 blocks are less than one on each SM.
    expected = '{80, Path::DequantMma, 32, 4, 128, 32, 128, 4, 2, 1, 1, "a card for sm_80", "blockscale-run --tune"},'
    assert table.tuned == expected
    source = (REPO / "lib" / "Support" / "TunedRows.cpp").read_text()
    row = next(line.strip() for line in source.splitlines() if "{90, Path::DequantMma" in line)
    assert row.split('"')[0].count(",") == expected.split('"')[0].count(",") and row[-3:] == expected[-3:]


def check_row(table, m, bits):
    """That of a schedule of wgmma."""
    tile, stages, split_k = (re.search(rf"\b{name}=([0-9x]+)", table.flag) for name in ("tile", "stages", "split_k"))
    rows_of_y, rows_of_x, tile_k = map(int, tile[1].split("x"))
    assert "swap_ab=1" in table.flag and rows_of_x == m
    # Two warpgroups split K if a tile has so few rows.
    start = f"{{90, Path::Wgmma, {m}, {bits}, {rows_of_y}, 0, "
    assert table.tuned.startswith(start)
    tile_part, *rest = table.tuned[len(start):].split(", ")
    assert tile_k % int(tile_part) == 0
    assert rest[:4] == ["0", stages[1], split_k[1] if split_k else "1", "0"]


def test_two_products(tmp_path):
    """One after the other, the other one as it is; the second has a schedule of its own."""
    m = n = k = 128
    own = "{blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 64, 128], warps = [2, 2], stages = 1>}"
    body = mma(m, n, k, name="%0") + mma(m, n, k, own, acc="%0")
    first, second = tune(tmp_path, program(m, n, k, body), FAKE_CUDA_CAPABILITY="120")
    assert first.title.split(":")[-3:-1] == ["4", "8"] and second.title.split(":")[-3:-1] == ["7", "8"]
    assert second.rows[0].text == "tile=128x64x128,warps=2x2,stages=1" and second.rows[0].note == " (default)"
    # The last kernel is the second product's: time does not go by the first.
    assert {row.ratio for row in first.rows} == {1} and len({row.ratio for row in second.rows}) > 1


def test_failures_and_differences(tmp_path):
    """Schedules that the card refuses have the reason, and the card goes on; those that give other bits are named.

    A kernel of this driver gives results by the number of its parameter, which is another one with split-K.
    """
    m, n, k = 64, 256, 2048
    text = program(m, n, k, mma(m, n, k))
    trace = tmp_path / "trace"
    settings = dict(FAKE_CUDA_CAPABILITY="120", FAKE_CUDA_MOST_SHARED="70000", FAKE_CUDA_TRACE=str(trace))
    (table,) = tune(tmp_path, text, **settings)
    refused = [row for row in table.rows if row.ms is None]
    assert refused and refused[0].ratio is None
    assert all(re.match(r": cannot give kernel 'main.*' \d+ bytes of dynamic shared memory", row.note)
               for row in refused)
    assert any(row.ms for row in table.rows[table.rows.index(refused[0]):])
    # The card is given back, and opened again, after each; once before all, to see whether there is one.
    releases = [line for line in trace.read_text().splitlines() if line.startswith("release")]
    assert releases == ["release with 0 buffers, 0 modules, 0 events"] * (len(refused) + 2)
    different = [row for row in table.rows if "split_k" in row.text and row.ms]
    assert different and all(
        row.note == f": not taken: result #0 differs from the default's in {m * n} of {m * n}" for row in different
    )
    assert table.fastest not in different + refused
    assert table.fastest.ms > min(row.ms for row in different)


def test_compare(tmp_path):
    """With --compare, other bits within their bounds may be the fastest; these, of a huge sum, may be anything."""
    m, n, k = 64, 256, 2048
    huge = f"  %acc = arith.constant dense<3.0e38> : tensor<{m}x{n}xf32>\n"
    text = program(m, n, k, huge + mma(m, n, k), acc="")
    (table,) = tune(tmp_path, text, "--compare", FAKE_CUDA_CAPABILITY="120")
    notes = [row.note for row in table.rows if "split_k" in row.text]
    assert notes and {note.split(", ")[-1] for note in notes} == {"within its bound"}
    assert "split_k" in table.flag
    done = run(tmp_path, program(m, n, k, mma(m, n, k)), "--tune", "--compare", FAKE_CUDA_CAPABILITY="120")
    assert done.returncode == 1 and "result #0" in done.stderr and not done.stdout


def test_failing_default(tmp_path):
    """Where the program as it is does not run, there is nothing to compare with."""
    done = run(tmp_path, program(64, 64, 128, mma(64, 64, 128)), "--tune", FAKE_CUDA_FAIL="cuMemAlloc=2")
    assert done.returncode == 1 and not done.stdout
    assert [line for line in done.stderr.splitlines() if "error:" in line] == [
        line for line in done.stderr.splitlines() if line.startswith("error: cannot allocate ")
    ]
