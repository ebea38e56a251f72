#!/usr/bin/python3
"""Whether `--numerics=hardware` is what a card of sm_90 computes, bit by bit.

usage: hardware_numerics.py card --out=DIR [--tasks N] [--only PATTERN] [--build DIR]
       hardware_numerics.py check --card=DIR [--only PATTERN] [--list N] [--build DIR]
       hardware_numerics.py sums --card=DIR

`card` runs every form of mma.sync and wgmma with blockscale-launch and stores what it computes in DIR.
`check`, perhaps on another machine, runs the same kernels on the same inputs with blockscale-sim and
compares. Inputs follow from names and numbers alone. `sums` prints checksums of a small sample, which
test/Execution/sim/hardware_sums.json keeps.

A task is one instruction; each of the seven distributions has as many of them, and a sample is the
first ones.
"""

import argparse
import fnmatch
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = 200_000
WGMMA_N = 64
DISTRIBUTIONS = ("normal", "wide", "cancellation", "subnormal", "special", "zero", "tie")
# For each distribution, in a sample.
SAMPLE_TASKS = 4


@dataclass(frozen=True)
class Format:
    """Bits of sign, exponent and fraction, then `padding` zeros."""

    exponent: int
    fraction: int
    has_infinity: bool = True
    padding: int = 0

    @property
    def bits(self):
        return 1 + self.exponent + self.fraction + self.padding

    @property
    def bias(self):
        return 2 ** (self.exponent - 1) - 1

    @property
    def lowest(self):
        """The exponent of subnormal numbers, as that of a field of 0."""
        return -self.bias

    @property
    def last_bit(self):
        return 1 - self.bias - self.fraction

    @property
    def top(self):
        """The largest exponent field of a finite number."""
        return 2**self.exponent - (2 if self.has_infinity else 1)


FORMATS = {
    "f16": Format(5, 10), "bf16": Format(8, 7), "tf32": Format(8, 10, padding=13), "f32": Format(8, 23),
    "f64": Format(11, 52), "e5m2": Format(5, 2), "e4m3": Format(4, 3, has_infinity=False),
}


INTEGERS = {"s4": 4, "u4": 4, "s8": 8, "u8": 8, "s32": 32}


def get_bits(name):
    return INTEGERS[name] if name in INTEGERS else FORMATS[name].bits


@dataclass(frozen=True)
class Form:
    unit: str  # mma, mma.sp or wgmma
    m: int
    k: int
    d: str
    a: str
    b: str
    is_saturating: bool = False

    @property
    def n(self):
        return WGMMA_N if self.unit == "wgmma" else 8

    @property
    def name(self):
        suffix = ".satfinite" if self.is_saturating else ""
        return f"{self.unit}.m{self.m}n{self.n}k{self.k}.{self.d}.{self.a}.{self.b}{suffix}"

    @property
    def threads(self):
        return 128 if self.unit == "wgmma" else 32

    @property
    def register_bits(self):
        return 64 if self.a == "f64" else 32

    @property
    def registers(self):
        """Of A, B and the accumulators, of a thread; B of wgmma is in shared memory, as many bytes each."""
        kept = self.k // 2 if self.unit == "mma.sp" else self.k
        sizes = ((self.m * kept, self.a), (self.k * self.n, self.b), (self.m * self.n, self.d))
        return [count * get_bits(name) // self.register_bits // self.threads for count, name in sizes]


# K of both types; types of 4 bits have twice as much.
INTEGER_SHAPES = (("mma", 8, 16), ("mma", 16, 16), ("mma", 16, 32), ("mma.sp", 16, 32), ("mma.sp", 16, 64))
F8 = ("e4m3", "e5m2")
F8_FORMS = [(a, b, d) for a in F8 for b in F8 for d in ("f32", "f16")]
FORMS = [
    *(Form("mma", 16, k, d, "f16", "f16") for k in (8, 16) for d in ("f32", "f16")),
    *(Form("mma", 16, k, "f32", "bf16", "bf16") for k in (8, 16)),
    *(Form("mma", 16, k, "f32", "tf32", "tf32") for k in (4, 8)),
    *(Form("mma", m, k, "f64", "f64", "f64") for m, k in ((8, 4), (16, 4), (16, 8), (16, 16))),
    *(Form("mma", 16, k, d, a, b) for k in (16, 32) for a, b, d in F8_FORMS),
    *(Form("mma.sp", 16, k, d, "f16", "f16") for k in (16, 32) for d in ("f32", "f16")),
    *(Form("mma.sp", 16, k, "f32", "bf16", "bf16") for k in (16, 32)),
    *(Form("mma.sp", 16, k, "f32", "tf32", "tf32") for k in (8, 16)),
    *(Form("mma.sp", 16, 64, "f32", a, b) for a in F8 for b in F8),
    *(Form("wgmma", 64, 16, d, "f16", "f16") for d in ("f32", "f16")),
    Form("wgmma", 64, 16, "f32", "bf16", "bf16"),
    Form("wgmma", 64, 8, "f32", "tf32", "tf32"),
    *(Form("wgmma", 64, 32, d, a, b) for a, b, d in F8_FORMS),
    *(Form(unit, m, k, "s32", "u8", "s8", saturates) for unit, m, k in INTEGER_SHAPES for saturates in (False, True)),
    *(Form(unit, m, 2 * k, "s32", "u4", "s4", saturates) for unit, m, k in INTEGER_SHAPES for saturates in (False, True)),
    *(Form("wgmma", 64, 32, "s32", a, "s8", saturates) for a in ("s8", "u8") for saturates in (False, True)),
]


# Inputs


def draw(key, count):
    """`count` numbers of 64 bits: splitmix64, of a counter that starts where `key` says."""
    state = np.uint64(zlib.crc32(key.encode())) << np.uint64(32)
    state = state + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return state ^ (state >> np.uint64(31))


def pick(numbers, shift, count):
    """0 to count - 1, from 16 bits at `shift`."""
    return (((numbers >> np.uint64(shift)) & np.uint64(0xFFFF)) * np.uint64(count) >> np.uint64(16)).astype(np.int64)


def between(numbers, low, high):
    return low + pick(numbers, 0, high - low + 1)


def draw_exponents(choice, operand, numbers, element, last_bit):
    """Of what is neither zero nor special; of C, where the products of `element` are."""
    low, high = 1 - element.bias, element.top - element.bias
    is_sum = operand == "c"
    fair = pick(numbers, 16, 4)
    if choice == "wide":
        return between(numbers, 2 * low - 10, 2 * high + 10) if is_sum else between(numbers, low - 1, high)
    if choice == "cancellation":
        return between(numbers, -30, 8) if is_sum else np.where(fair < 2, 3, 3 - pick(numbers, 0, 12))
    if choice == "subnormal":
        # Of A; of B, such that products are about the last bit of D, or as low as can be.
        least = {"a": element.lowest, "b": max(last_bit - element.lowest, element.lowest)}
        if is_sum:
            return between(numbers, sum(least.values()) - 16, sum(least.values()) + 14)
        return least[operand] + np.maximum(fair - 1, 0)
    if choice == "tie":
        return between(numbers, 7, 27) if is_sum else pick(numbers, 0, 3)
    return 1 - pick(numbers, 0, 2) * pick(numbers, 16, 8)


def make_codes(choice, operand, key, count, form, element, last_bit):
    """Codes of a format; `element` is that of the elements where C is asked for."""
    is_sum = operand == "c"
    numbers, fractions = draw(key + "/1", count), draw(key + "/2", count)
    exponents = draw_exponents(choice, operand, numbers, element, last_bit)
    fields = np.clip(exponents + form.bias, 0, form.top).astype(np.uint64)
    fraction = fractions >> np.uint64(64 - form.fraction)
    if choice == "cancellation":
        fraction = np.where(pick(fractions, 0, 4) == 0, fraction, np.uint64(0))
    if choice == "tie" and not is_sum:
        fraction &= np.uint64(3 << max(form.fraction - 2, 0))
    codes = fields << np.uint64(form.fraction) | fraction
    largest = np.uint64(((form.top + 1) << form.fraction) - (1 if form.has_infinity else 2))
    codes = np.minimum(codes, largest)
    rare = pick(numbers, 32, 96)
    if choice == "special":
        # Infinity (of e4m3 NaN), NaN with any fraction, the largest.
        codes = np.where(rare == 0, largest + np.uint64(1), codes)
        nan = largest + (np.maximum(fraction, np.uint64(1)) if form.has_infinity else np.uint64(0)) + np.uint64(1)
        codes = np.where(rare == 1, nan, codes)
        codes = np.where(rare == 2, largest, codes)
    zeros = {"zero": 48 if is_sum else 72, "subnormal": 48 if is_sum else 0}
    codes = np.where(rare < zeros.get(choice, 0), np.uint64(0), codes)
    codes |= (numbers >> np.uint64(63)) << np.uint64(form.bits - form.padding - 1)
    return codes << np.uint64(form.padding)


def pack(codes, name, form):
    """Registers, the first element in the lowest bits."""
    width = FORMATS[name].bits
    return np.ascontiguousarray(codes.astype(f"u{width // 8}")).view(f"u{form.register_bits // 8}")


def make_integers(operand, key, count):
    """Any bits; C is near what overflows, or anything."""
    words = (draw(key, count) >> np.uint64(16)).astype(np.uint32)
    if operand == "c":
        words = np.where(words & 3 == 0, words, (words & np.uint32(0x80001FFF)) ^ np.uint32(0x7FFFE000))
    return words


def make_inputs(form, choice, tasks):
    """Registers of A, B, the accumulator and of metadata, thread by thread."""
    arrays = []
    for operand, name, registers in zip("abc", (form.a, form.b, form.d), form.registers):
        key = f"{form.name}/{choice}/{operand}"
        count = tasks * form.threads * registers * form.register_bits // get_bits(name)
        if name in INTEGERS:
            arrays.append(make_integers(operand, key, tasks * form.threads * registers))
            continue
        # Sums of mixed types are where those of e5m2 are.
        element = FORMATS[max(form.a, form.b) if operand == "c" else name]
        codes = make_codes(choice, operand, key, count, FORMATS[name], element, FORMATS[form.d].last_bit)
        arrays.append(pack(codes, name, form))
    # Ordered metadata: which two of four, or one of two of tf32.
    fields = np.array((4, 14) if form.a == "tf32" else (4, 8, 9, 12, 13, 14), dtype=np.uint32)
    indices = pick(draw(f"{form.name}/{choice}/e", tasks * form.threads * 8), 0, len(fields)).reshape(-1, 8)
    arrays.append((fields[indices] << np.arange(0, 32, 4, dtype=np.uint32)).sum(axis=1, dtype=np.uint32))
    return arrays


# Kernels


def braces(letter, count):
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def make_multiply(form, a, b, d):
    types = f"{'.satfinite' if form.is_saturating else ''}.{form.d}.{form.a}.{form.b}"
    if form.unit == "wgmma":
        signs = {"f16": ", 1, 1, 0", "bf16": ", 1, 1, 0", "s8": "", "u8": ""}.get(form.a, ", 1, 1")
        return f"""
  // K-major cores of 8 rows of 16 bytes, without swizzle: two along K, then along N.
  mul.wide.u32 %s0, %t2, 16; mov.u64 %s1, tile; add.u64 %s0, %s0, %s1;
  st.shared.v4.b32 [%s0], {braces("b", b)};
  fence.proxy.async.shared::cta; bar.sync 0;
  shr.u64 %s1, %s1, 4; or.b64 %s1, %s1, 0x1000080000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n{form.n}k{form.k}{types} {braces("d", d)}, {braces("a", a)}, %s1, 1{signs};
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"""
    sparse = ".sp::ordered_metadata" if form.unit == "mma.sp" else ""
    metadata = ", %e, 0" if sparse else ""
    return (f"mma{sparse}.sync.aligned.m{form.m}n8k{form.k}.row.col{types}.{form.d}"
            f" {braces('d', d)}, {braces('a', a)}, {braces('b', b)}, {braces('d', d)}{metadata};")


def make_kernel(form):
    """Thread i has its registers at i in the arrays."""
    a, b, d = form.registers
    bits = form.register_bits
    sum_type = {"f32": ".f32", "f64": ".f64"}.get(form.d, ".b32")
    element_type = ".f64" if form.a == "f64" else ".b32"
    lines = []
    for letter, count in (("a", a), ("b", b), ("d", d)):
        lines.append(f"ld.param.u64 %p0, [{letter}]; mad.wide.u32 %p0, %t1, {count * bits // 8}, %p0;")
        kind = sum_type if letter == "d" else element_type
        lines += [f"ld.global{kind} %{letter}{i}, [%p0+{i * bits // 8}];" for i in range(count)]
    stores = [f"st.global{sum_type} [%p0+{i * bits // 8}], %d{i};" for i in range(d)]
    newline = "\n  "
    return f""".version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d, .param .u64 e, .param .u64 o) {{
  .reg {element_type} %a<{a}>; .reg {element_type} %b<{b}>; .reg {sum_type} %d<{d}>;
  .reg .b32 %e; .reg .u32 %t<4>; .reg .u64 %p<2>; .reg .b64 %s<2>;
  .shared .align 128 .b8 tile[{form.n * 32}];
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t1, %t0, %t1, %t2;
  {newline.join(lines)}
  ld.param.u64 %p0, [e]; mad.wide.u32 %p0, %t1, 4, %p0; ld.global.b32 %e, [%p0];
  {make_multiply(form, a, b, d)}
  ld.param.u64 %p0, [o]; mad.wide.u32 %p0, %t1, {d * bits // 8}, %p0;
  {newline.join(stores)}
  ret;
}}
"""


def run(form, tasks, command):
    """Results of all distributions, as numbers of the bits that D has."""
    inputs = [make_inputs(form, choice, tasks) for choice in DISTRIBUTIONS]
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder, "k.ptx")
        ptx.write_text(make_kernel(form))
        names = []
        for operand, parts in zip("abde", zip(*inputs)):
            names.append(f"in:{folder}/{operand}.npy")
            np.save(f"{folder}/{operand}.npy", np.concatenate(parts))
        threads = len(DISTRIBUTIONS) * tasks * form.threads
        size = threads * form.registers[2]
        subprocess.run(
            [command[0], ptx, f"--grid={threads // form.threads}", f"--block={form.threads}", *command[1:], *names,
             f"out:{folder}/o.npy:u{form.register_bits // 8}:{size}"],
            check=True, capture_output=True, text=True,
        )
        results = np.load(f"{folder}/o.npy")
    return results.view(f"u{get_bits(form.d) // 8}").reshape(len(DISTRIBUTIONS), tasks, -1)


def simulate(form, tasks, build):
    return run(form, tasks, [f"{build}/bin/blockscale-sim", "--numerics=hardware"])


# Comparison


def checksum(results):
    """Of the sample."""
    sample = np.ascontiguousarray(results[:, :SAMPLE_TASKS])
    return hashlib.sha256(sample.tobytes()).hexdigest()[:16]


def list_differences(form, expected, got, most):
    for choice, task, element in np.argwhere(expected != got)[:most]:
        digits = 2 * expected.itemsize
        print(f"  {DISTRIBUTIONS[choice]}, task {task}, element {element}: "
              f"card {expected[choice, task, element]:0{digits}x}, "
              f"simulator {got[choice, task, element]:0{digits}x}")


def check(options, forms):
    """A line for each form: how many results there are, and how many differ."""
    total, worst = 0, 0.0
    for form in forms:
        expected = np.load(options.card / f"{form.name}.npy")
        got = simulate(form, expected.shape[1], options.build)
        differ = np.count_nonzero(expected != got, axis=(1, 2))
        total, worst = total + differ.sum(), max(worst, differ.sum() / got.size)
        apart = ", ".join(f"{name} {count}" for name, count in zip(DISTRIBUTIONS, differ) if count)
        print(f"{form.name}: {got.size} results, {differ.sum()} differ{f' ({apart})' if apart else ''}",
              flush=True)
        list_differences(form, expected, got, options.list)
    print(f"{len(forms)} forms, {total} results differ, of one form at most {worst:.1e} of them")


def count_tasks(form, results):
    return -(-results // (form.m * form.n * len(DISTRIBUTIONS)))


def run_card(options, forms):
    options.out.mkdir(parents=True, exist_ok=True)
    for form in forms:
        tasks = options.tasks or count_tasks(form, RESULTS)
        np.save(options.out / f"{form.name}.npy", run(form, tasks, [f"{options.build}/bin/blockscale-launch"]))
    print(f"{len(forms)} forms")


def print_sums(options, forms):
    sums = {form.name: checksum(np.load(options.card / f"{form.name}.npy")) for form in forms}
    print(json.dumps(sums, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("card", "check", "sums"))
    parser.add_argument("--out", type=pathlib.Path, help="where `card` stores results")
    parser.add_argument("--card", type=pathlib.Path, help="where `card` has stored them")
    parser.add_argument("--tasks", type=int, help="instructions for each distribution")
    parser.add_argument("--list", type=int, default=0, help="differences to show for each form")
    parser.add_argument("--only", default="*", help="names of forms, with * and ?")
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    options = parser.parse_args()
    forms = [form for form in FORMS if fnmatch.fnmatch(form.name, options.only)]
    if (options.out if options.step == "card" else options.card) is None:
        parser.error(f"{options.step} needs --{'out' if options.step == 'card' else 'card'}=DIR")
    {"card": run_card, "check": check, "sums": print_sums}[options.step](options, forms)


if __name__ == "__main__":
    sys.exit(main())
