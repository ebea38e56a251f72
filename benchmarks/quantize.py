#!/usr/bin/python3
"""quantize and dequantize on a CUDA card: ours beside a copy of as many bytes, and beside torch.compile of the same rule.

usage: quantize.py build DIR --target=CHIP [--build=BUILD]     PTX and launch infos of the cases
       quantize.py run DIR [--no-torch-compile]                measures them

`build` needs a build of this project; `run` needs a card and torch, but no LLVM: copy the folder and this
repository's benchmarks/ and python/. A time is the median of samples of a CUDA graph of 20 calls; ours, the
copy and torch take turns. `copy` moves as many bytes as the kernel reads and writes. The elements and scales of
the first rows are checked against the numpy reference.
"""

import argparse
import pathlib
import sys

from gpu_graphs import alike, measure
from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CHECKED_ROWS = 64

# name: element, scale, block size, or the rows and elements along K of a coarse scale
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp6": ("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
    "fp8-1x128": ("f8E4M3FN", "f32", (1, 128)),
    "fp8-128x128": ("f8E4M3FN", "f32", (128, 128)),
    "fp8-row": ("f8E4M3FN", "f32", (1, "all")),
    "fp8-tensor": ("f8E4M3FN", "f32", ("all", "all")),
}
# M (None for a dynamic one, of this size), K, type of x.
SIZES = {
    "8192x8192": (8192, 8192, "bf16", False),
    "8192x8192-f32": (8192, 8192, "f32", False),
    "300x8192": (300, 8192, "bf16", False),
    "65536x96": (65536, 96, "bf16", False),
    "8192x8192-dynamic": (8192, 8192, "bf16", True),
}

# Sizes of what is dequantised.
BACK = 8192, 8192


def attribute(block):
    if isinstance(block, int):
        return f"block_size = {block} : i64"
    return f"scale_block = #blockscale.scale_block<rows = {block[0]}, k = {block[1]}>"


def scales_shape(block, m, k):
    """The sizes of scales; `m` may be "?"."""
    def count(size, of):
        return 1 if of == "all" else size if of == 1 or size == "?" else -(-size // of)

    rows, columns = (1, block) if isinstance(block, int) else block
    return count(m, rows), count(k, columns)


def keywords(block):
    """How the numpy functions take a block."""
    return {"block_size": block} if isinstance(block, int) else {"scale_block": block}


def program(element, scale, block, m, k, dtype, is_dynamic):
    rows = "?" if is_dynamic else m
    x, quantized = f"tensor<{rows}x{k}x{dtype}>", f"tensor<{rows}x{k}x{element}>"
    scales = "tensor<" + "".join(f"{size}x" for size in scales_shape(block, rows, k)) + f"{scale}>"
    return f"""func.func @main(%x: {x}) -> ({quantized}, {scales}) {{
  %c, %s = blockscale.quantize %x {{{attribute(block)}}} : {x} to {quantized}, {scales}
  return %c, %s : {quantized}, {scales}
}}
"""


def back(element, scale, block, m, k):
    """Dequantizes to bf16."""
    rows, columns = scales_shape(block, m, k)
    quantized, scales = f"tensor<{m}x{k}x{element}>", f"tensor<{rows}x{columns}x{scale}>"
    coarse = "" if isinstance(block, int) else f" {{{attribute(block)}}}"
    return f"""func.func @main(%c: {quantized}, %s: {scales}) -> tensor<{m}x{k}xbf16> {{
  %y = blockscale.dequantize %c, %s{coarse} : {quantized}, {scales} to tensor<{m}x{k}xbf16>
  return %y : tensor<{m}x{k}xbf16>
}}
"""


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    texts = {name: program(*FORMATS[format], *SIZES[size]) for name, (format, size) in cases().items()}
    texts.update((f"{name}-back", back(*format, *BACK)) for name, format in FORMATS.items())
    for name, text in texts.items():
        compile_program(options, name, text)
    print(f"{len(texts)} cases for {options.target} in {options.folder}")


def cases():
    return {f"{format}-{size}": (format, size) for size in SIZES for format in FORMATS}


def torch_rule(torch, element, scale, block):
    """The same rule (rceil, or NVFP4's) in torch, without packing of elements below 8 bits."""
    largest = {"f8E4M3FN": 448.0, "f6E2M3FN": 7.5, "f4E2M1FN": 6.0}[element]
    levels = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
    borders = (levels[1:] + levels[:-1]) / 2

    def quantize(x):
        blocks = x.float().unflatten(-1, (-1, block))
        amax = blocks.abs().amax(-1, keepdim=True)
        if scale == "f8E8M0FNU":
            code = torch.ceil(torch.log2(amax / largest)).clamp(-127, 127)
            factor = torch.exp2(-code)
            scales = (code + 127).to(torch.uint8)
        else:
            scales = (amax / 6).clamp(max=448).to(torch.float8_e4m3fn)
            factor = 1 / scales.float()
        scaled = (blocks * factor).clamp(-largest, largest)
        if element == "f8E4M3FN":
            codes = scaled.to(torch.float8_e4m3fn)
        else:
            codes = torch.bucketize(scaled.abs(), borders).to(torch.uint8)
            codes = codes | (scaled < 0).to(torch.uint8) << 3
            codes = codes[..., ::2] | codes[..., 1::2] << 4
        return codes.flatten(-2), scales.flatten(-2)

    return torch.compile(quantize)


def scale_type(torch, scale):
    return torch.float32 if scale == "f32" else torch.uint8


def checked_rows(block, m):
    """Whole blocks of rows."""
    rows = 1 if isinstance(block, int) else block[0]
    return m if rows == "all" else min(m, max(CHECKED_ROWS, rows))


def run(options):
    import blockscale
    import numpy as np
    import torch

    card = Card(torch)
    print(card.name)
    print(f"{'case':26} {'us':>8} {'TB/s':>6} {'of copy':>8} {'torch/ours':>10}  codes")
    for name, (format, size) in cases().items():
        element, scale, block = FORMATS[format]
        m, k, dtype, _ = SIZES[size]
        bits = 4 if element.startswith("f4") else 8
        x = torch.randn(m, k, device="cuda", dtype={"bf16": torch.bfloat16, "f32": torch.float32}[dtype])
        codes = torch.empty(m, k * bits // 8, dtype=torch.uint8, device="cuda")
        scales = torch.empty(*scales_shape(block, m, k), dtype=scale_type(torch, scale), device="cuda")
        ours = card.load(options.folder / name, [(m, k)]).bind([x], [codes, scales])
        ours()
        torch.cuda.synchronize()
        rows = checked_rows(block, m)
        want = blockscale.quantize(x[:rows].float().cpu().numpy(), element, scale, **keywords(block))
        got = codes[:rows].cpu().numpy()
        if bits == 4:
            got = np.stack([got & 15, got >> 4], -1).reshape(rows, k)
        right = np.array_equal(got, want[0]) and np.array_equal(scales[:len(want[1])].cpu().numpy(), want[1])
        moved = x.nbytes + codes.nbytes + scales.nbytes
        source, target = (torch.empty(moved // 2, dtype=torch.uint8, device="cuda") for _ in range(2))
        works = {"ours": ours, "copy": lambda: target.copy_(source)}
        if not options.no_torch_compile and element != "f6E2M3FN" and isinstance(block, int) and size == "8192x8192":
            compiled = torch_rule(torch, element, scale, block)
            works["torch"] = lambda: compiled(x)
        us = measure(torch, alike(works))
        torch_ratio = f"{us['torch'] / us['ours']:.2f}" if "torch" in us else "-"
        print(
            f"{name:26} {us['ours']:8.1f} {moved / us['ours'] / 1e6:6.2f} {us['copy'] / us['ours']:8.3f}"
            f" {torch_ratio:>10}  {'equal' if right else 'WRONG'}",
            flush=True,
        )
        if not right:
            return 1
    return run_back(options, torch, card)


def run_back(options, torch, card):
    """dequantize: random elements and scales."""
    import blockscale

    m, k = BACK
    for name, (element, scale, block) in FORMATS.items():
        bits = {"f4E2M1FN": 4, "f6E2M3FN": 6}.get(element, 8)
        codes = torch.randint(0, 1 << bits, (m, k), dtype=torch.uint8, device="cuda")
        low, high = (120, 135) if scale == "f8E8M0FNU" else (1, 0x7F)
        shape = scales_shape(block, m, k)
        if scale == "f32":
            scales = torch.rand(shape, device="cuda")
        else:
            scales = torch.randint(low, high, shape, dtype=torch.uint8, device="cuda")
        packed = codes[:, ::2] | codes[:, 1::2] << 4 if bits == 4 else codes
        y = torch.empty(m, k, dtype=torch.bfloat16, device="cuda")
        ours = card.load(options.folder / f"{name}-back", [(m, k), shape]).bind([packed, scales], [y])
        ours()
        torch.cuda.synchronize()
        rows = checked_rows(block, m)
        first = [value[:count].cpu().numpy() for value, count in ((codes, rows), (scales, scales_shape(block, rows, k)[0]))]
        want = torch.from_numpy(blockscale.dequantize(*first, element, scale, **keywords(block))).bfloat16()
        right = torch.equal(y[:rows].cpu().nan_to_num(), want.nan_to_num())
        moved = packed.nbytes + scales.nbytes + y.nbytes
        source, target = (torch.empty(moved // 2, dtype=torch.uint8, device="cuda") for _ in range(2))
        us = measure(torch, alike({"ours": ours, "copy": lambda: target.copy_(source)}))
        print(
            f"{name + '-back':26} {us['ours']:8.1f} {moved / us['ours'] / 1e6:6.2f} {us['copy'] / us['ours']:8.3f}"
            f" {'-':>10}  {'equal' if right else 'WRONG'}", flush=True,
        )
        if not right:
            return 1
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("folder", type=pathlib.Path)
    building.add_argument("--target", required=True)
    building.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    running.add_argument("--no-torch-compile", action="store_true")
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
