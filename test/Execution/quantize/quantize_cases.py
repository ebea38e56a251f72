"""Programs of quantize and dequantize, run on any device, and what they should give."""

import subprocess
from itertools import product

import harness
import numpy as np

RULES = ("floor", "ceil", "even", "rceil")
# Elements, scales, block size: that of dense products, or twice that, as sparse ones have it.
FORMATS = tuple(
    dict.fromkeys(
        (row.x, row.scale, times * row.block) for times in (1, 2) for row in harness.COMBINATIONS if row.x == row.y
    )
)
CHIPS = ("sm_90a", "sm_100a", "sm_120a")
DEVICES = ("cpu", *CHIPS)


def to_bits(values, dtype):
    """float32 values as in an .npy file of `dtype`: bf16 as its bits."""
    values = np.asarray(values, np.float32)
    if dtype == "bf16":
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    return values.astype({"f32": np.float32, "f16": np.float16}[dtype])


def tensor(shape, element):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def run(folder, text, arrays, results, device, entry="main"):
    """The results of function `entry`, as arrays: on the CPU, or in the simulator for a chip."""
    program = folder / "program.mlir"
    program.write_text(text)
    inputs = []
    for i, array in enumerate(arrays):
        inputs.append(folder / f"in{i}.npy")
        np.save(inputs[-1], array)
    outputs = [folder / f"{device}{i}.npy" for i in range(results)]
    command = [harness.RUN, program, f"--entry={entry}"]
    if device != "cpu":
        command += ["--device=sim", f"--target={device}", "--check=race,strict"]
    for path in outputs:
        command += ["-o", path]
    done = subprocess.run(
        [*command, *inputs], capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False
    )
    assert done.returncode == 0, f"{device}: exit code {done.returncode}\n{done.stderr}\n{text}"
    return [np.load(path, allow_pickle=False) for path in outputs]


def quantize_op(name, x, element, scale, block, dtype, sizes, rule=None, g=None, pad=False):
    """One op with results %name_c and %name_s; `sizes` are of x, "?" for a dynamic one."""
    k = sizes[-1]
    blocks = "?" if k == "?" else -(-k // block)
    attributes = [f"block_size = {block} : i64"]
    if rule:
        attributes.append(f"rule = #blockscale.scale_rule<{rule}>")
    if pad:
        attributes.append("pad")
    g_use, g_type = (f" tensor_scale({g})", ", f32") if g else ("", "")
    types = tensor(sizes, element), tensor([*sizes[:-1], blocks], scale)
    line = (
        f"  %{name}_c, %{name}_s = blockscale.quantize {x}{g_use} {{{', '.join(attributes)}}}"
        f" : {tensor(sizes, dtype)}{g_type} to {', '.join(types)}"
    )
    return line, types


def rules_of(scale):
    return RULES if scale == "f8E8M0FNU" else (None,)


def all_rules(element, scale, block, dtype, shape, g=None):
    """A function that quantises its argument by each rule: its text and number of results."""
    lines, names, types = [], [], []
    for rule in rules_of(scale):
        name = rule or "number"
        line, (quantized, scales) = quantize_op(
            name, "%x", element, scale, block, dtype, shape, rule, "%g" if g else None
        )
        lines.append(line)
        names += [f"%{name}_c", f"%{name}_s"]
        types += [quantized, scales]
    argument = f"%x: {tensor(shape, dtype)}" + (", %g: f32" if g else "")
    text = [f"func.func @main({argument}) -> ({', '.join(types)}) {{", *lines]
    text += [f"  return {', '.join(names)} : {', '.join(types)}", "}"]
    return "\n".join(text) + "\n", len(names)


CASES = [
    (*formats, dtype)
    for formats, dtype in product(FORMATS, ("f32", "f16", "bf16"))
]


def name_of(case):
    return "-".join(map(str, case))



