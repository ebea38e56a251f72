"""Programs of ops on sparse operands, and their data."""

import subprocess

import harness
import numpy as np
from sparse_oracle import FIELDS, UNITS, metadata_of

# Scales and block sizes of sparse fp4 in pairs. Blocks of 32 with f8E8M0FNU take two instructions.
PAIR_ROWS = {("f8E8M0FNU", 64), ("f8E8M0FNU", 32), ("f8E4M3FN", 32)}
CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")


def is_native_row(types, block, granularity):
    """Whether sm_120a has mma.sp, and sm_100a tcgen05.mma.sp, for these types of x, y and scales (PTX ISA, "mma.sp")."""
    is_fp4 = types[:2] == ("f4E2M1FN", "f4E2M1FN")
    if granularity == "pairs":
        return is_fp4 and (types[2], block) in PAIR_ROWS
    return types[2] == "f8E8M0FNU" and block == 64


def tensor(shape, element, dynamic=False):
    return f"tensor<{''.join('?x' if dynamic else f'{n}x' for n in shape)}{element}>"


def attribute(granularity):
    return f"granularity = #blockscale.granularity<{granularity}>"


def start(folder, text, arrays, results, device="cpu", flags=(), checks="race,strict"):
    """Runs @main; the finished process, and the paths of results."""
    program = folder / "program.mlir"
    program.write_text(text)
    inputs = [folder / f"in{i}.npy" for i in range(len(arrays))]
    for path, array in zip(inputs, arrays):
        np.save(path, array)
    outputs = [folder / f"{device}{i}.npy" for i in range(results)]
    command = [harness.RUN, program]
    if device != "cpu":
        command += ["--device=sim", f"--target={device}", f"--check={checks}", *flags]
    for path in outputs:
        command += ["-o", path]
    done = subprocess.run(
        [*command, *inputs], capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False
    )
    return done, outputs


def run(folder, text, arrays, results, device="cpu", flags=(), checks="race,strict"):
    """The results of @main, and what was printed on stderr."""
    done, outputs = start(folder, text, arrays, results, device, flags, checks)
    assert done.returncode == 0, f"{device}: exit code {done.returncode}\n{done.stderr}\n{text}"
    return [np.load(path, allow_pickle=False) for path in outputs], done.stderr


def product_program(shapes, types, block, granularity, dynamic=False, transposed=()):
    """sparse_mma_scaled of arguments; `types` are those of x, y and scales.

    Arguments whose numbers are in `transposed`, static matrices, are the transposes of what the op takes.
    """
    x, y, scale = types
    elements = (x, "i8", scale, y, scale, "f32")
    kinds = [tensor(shape, element, dynamic) for shape, element in zip(shapes, elements)]
    names = [f"%arg{i}" for i in range(6)]
    stored = [
        tensor(shape[::-1], element) if i in transposed else kind
        for i, (shape, element, kind) in enumerate(zip(shapes, elements, kinds))
    ]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, stored))
    lines = []
    for i in transposed:
        lines += [
            f"  %e{i} = tensor.empty() : {kinds[i]}",
            f"  %t{i} = linalg.transpose ins({names[i]} : {stored[i]}) outs(%e{i} : {kinds[i]}) permutation = [1, 0]",
        ]
        names[i] = f"%t{i}"
    return "\n".join([
        f"func.func @main({arguments}) -> {kinds[5]} {{", *lines,
        f"  %d = blockscale.sparse_mma_scaled {', '.join(names)}"
        f" {{{attribute(granularity)}, block_size = {block} : i64}} : {', '.join(kinds)}",
        f"  return %d : {kinds[5]}",
        "}",
    ]) + "\n"


def rectified_program(shapes, *row):
    """max(0, d) of the d of `product_program`, whose metadata is promised to be legal."""
    kind = tensor(shapes[5], "f32")
    return product_program(shapes, *row).replace(f"  return %d : {kind}", f"""  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {kind}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%d : {kind}) outs(%e : {kind}) {{
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %z : f32
    linalg.yield %m : f32
  }} -> {kind}
  return %r : {kind}""").replace("granularity =", "legal_metadata, granularity =")


# Exponents of the scales of x and of y, whose products stay exact: inside of what bf16 holds, and outside of it.
HARD_EXPONENTS = [(-100, 100), (120, -120), (-127, 127), (-126, 120)]


def hard_data(row, m, n, k, exponents):
    """Data of a product with scales (f8E8M0FNU) some of which bf16 cannot hold with all elements."""
    data = product_data(*row, m, n, k, seed=16)
    rng = np.random.default_rng(exponents[0] + 128)
    x_shift = rng.choice([0, exponents[0]], data[2].shape[-1])
    for scale, shifts in ((data[2], x_shift), (data[4], -x_shift[:, None])):
        scale[...] = np.where(shifts, np.clip(127 + shifts, 0, 254), scale)
    return data


def random_metadata(rng, rows, k, granularity):
    """Legal fields, each of the six at least once in a chunk of many."""
    fields = rng.choice(list(FIELDS), (*rows, k // (4 * UNITS[granularity])))
    flat = fields.reshape(-1)
    flat[: len(FIELDS)] = list(FIELDS)[: flat.size]
    return metadata_of(fields)


def product_data(types, block, granularity, m, n, k, seed, x_batch=(), y_batch=()):
    """Operands whose sums are exact in float32: x, metadata, scales, y, scales, acc."""
    row = harness.Combination(types[0], types[1], types[2], block)
    batches = dict(x_batch=x_batch, y_batch=y_batch)
    x, x_scale, y, y_scale, acc = harness.exact(row, m, n, k, seed, **batches)
    rng = np.random.default_rng([seed, m, n, k])
    metadata = random_metadata(rng, (*x_batch, m), k, granularity)
    return [np.ascontiguousarray(x[..., : k // 2]), metadata, x_scale, y, y_scale, acc]
