"""PTX of kernels of wgmma, and their launches as cases of ../kernels.

Lines that synchronise end in `// sync: NAME`.
"""

import numpy as np
import wgmma_data
from cases import Sweep
from wgmma_config import Config
from wgmma_data import THREADS, Data

SWIZZLE_FIELDS = {0: 0, 128: 1, 64: 2, 32: 3}
MAX_SHARED = 48 << 10  # of variables
HEADER = """\
.version 8.7
.target sm_90a
.address_size 64
.visible .entry wgmma({parameters})
{{
  .reg .pred %flag, %clear, %more;
  .reg .b32 %thread, %base, %at, %word, %tile, %metadata;
  .reg .b32 %d<{d}>, %a<4>;
  .reg .b64 %address, %descA, %descB, %from, %offset;
  .shared .align 1024 .b8 S[{shared}];
  mov.u32 %thread, %tid.x;
  mov.u32 %base, S;
  setp.ge.u32 %flag, %thread, 0;
  not.pred %clear, %flag;
"""


def descriptor(image, swizzle):
    """A descriptor without the start address."""
    return image.leading >> 4 << 16 | image.stride >> 4 << 32 | SWIZZLE_FIELDS[swizzle] << 62


def header(count, config, shared):
    assert shared <= MAX_SHARED, shared
    parameters = ", ".join(f".param .u64 P{i}" for i in range(count))
    return HEADER.format(parameters=parameters, d=config.registers, shared=max(shared, 16))


def start(register, parameter):
    """The address of this thread's word of a parameter."""
    return f"""\
  ld.param.u64 {register}, [{parameter}];
  mad.wide.u32 {register}, %thread, 4, {register};
"""


def move_d(config, load):
    text = start("%address", "P2" if load else "P3")
    for i in range(config.registers):
        address = f"[%address+{i * THREADS * 4}]"
        text += f"  ld.global.b32 %d{i}, {address};\n" if load else f"  st.global.b32 {address}, %d{i};\n"
    return text


def fill_shared(size):
    """The bytes at %from go to %base, a word of each thread at a time."""
    text = "  mad.lo.u32 %at, %thread, 4, %base;\n"
    for offset in range(0, size, THREADS * 4):
        text += f"  ld.global.b32 %word, [%from+{offset}];\n  st.shared.b32 [%at+{offset}], %word;\n"
    return text + "  fence.proxy.async.shared::cta; // sync: fence.proxy.async\n  bar.sync 0;\n"


def make_descriptor(register, word, offset):
    return f"""\
  add.u32 %at, %base, {offset};
  shr.u32 %at, %at, 4;
  cvt.u64.u32 {register}, %at;
  or.b64 {register}, {register}, {word:#x};
"""


def multiply(config, scale_d):
    """One instruction; A in %a<4> or behind %descA, B behind %descB."""
    d = ", ".join(f"%d{i}" for i in range(config.registers))
    a = "%descA" if config.a else "{%a0, %a1, %a2, %a3}"
    constants = []
    if config.has_signs:
        constants += [(1, -1)[config.negate_a], (1, -1)[config.negate_b]]
    if config.has_transposes:
        constants += [int(config.a.major == "MN")] if config.a else []
        constants.append(int(config.b.major == "MN"))
    types = f"{config.d_type}.{config.a_type}.{config.b_type}" + ".satfinite" * config.saturates
    behind = "".join(f", {number}" for number in constants)
    dense = config.selector is None
    sparse, metadata = ("", "") if dense else (".sp", f"%metadata, {config.selector}, ")
    return (
        f"  wgmma.mma_async{sparse}.sync.aligned.{config.shape}.{types}\n"
        f"    {{{d}}}, {a}, %descB, {metadata}{scale_d}{behind};\n"
    )


FENCE = "  wgmma.fence.sync.aligned; // sync: wgmma.fence\n"
COMMIT = "  wgmma.commit_group.sync.aligned; // sync: wgmma.commit_group\n"


def wait(count):
    return f"  wgmma.wait_group.sync.aligned {count}; // sync: wgmma.wait_group {count}\n"


def case(config, seed=1):
    """All steps one after the other; A in registers, and metadata, are loaded before each of them."""
    data = Data(config, seed)
    loads = config.a is None or config.selector is not None
    per_step = (4 if config.a is None else 0) + (config.selector is not None)
    b_image, shared = wgmma_data.image(config, config.b, data.b, config.b_type)
    b_start = 0
    if config.a:
        a_image, a_bytes = wgmma_data.image(config, config.a, data.a, config.a_type)
        b_start = len(a_bytes)
        shared = np.concatenate([a_bytes, shared])
    text = header(4, config, len(shared)) + move_d(config, load=True)
    text += start("%from", "P0") + fill_shared(len(shared)) + start("%from", "P1")
    for step in range(config.steps):
        if config.a:
            word = descriptor(a_image, config.a.swizzle)
            text += make_descriptor("%descA", word, a_image.steps[step])
        else:
            for i in range(4):
                text += f"  ld.global.b32 %a{i}, [%from+{(per_step * step + i) * THREADS * 4}];\n"
        if config.selector is not None:
            text += f"  ld.global.b32 %metadata, [%from+{(per_step * (step + 1) - 1) * THREADS * 4}];\n"
        word = descriptor(b_image, config.b.swizzle)
        text += make_descriptor("%descB", word, b_start + b_image.steps[step])
        if step == 0 or loads:
            text += FENCE
        text += multiply(config, "1" if step else config.scale_d[0])
        last = step == config.steps - 1
        if last or (step + 1) % config.group == 0 or loads:
            text += COMMIT
            text += wait(0 if last or loads else 1)
    text += move_d(config, load=False) + "  ret;\n}\n"
    words = wgmma_data.d_words(config, data.before)
    registers = [] if config.a else [wgmma_data.a_words(config, data.a)]
    if config.selector is not None:
        registers.append(wgmma_data.metadata_words(config, data.fields)[:, None])
    registers = np.concatenate(registers, 1) if registers else np.zeros(1, np.uint32)
    arguments = [shared.view(np.uint32), registers, words, np.zeros_like(words)]
    results = {3: wgmma_data.d_words(config, data.after)}
    return Sweep(text, "wgmma", (1,), (THREADS,), arguments, results, label=config.label, target="sm_90a")


def stages(config=Config("f32", "bf16", "bf16", n=64, steps=2), tiles=5):
    """A loop with two stages of shared memory: while a tile is multiplied, the next one is filled in."""
    data = [Data(config, seed) for seed in range(tiles)]
    images = []
    for each in data:
        a_image, a_bytes = wgmma_data.image(config, config.a, each.a, config.a_type)
        b_image, b_bytes = wgmma_data.image(config, config.b, each.b, config.b_type)
        images.append(np.concatenate([a_bytes, b_bytes]))
    size = len(images[0])
    text = header(4, config, 2 * size) + move_d(config, load=True) + start("%from", "P0")
    text += "  mov.u32 %tile, 0;\nLOOP:\n" + fill_shared(size) + FENCE
    for step in range(config.steps):
        text += make_descriptor("%descA", descriptor(a_image, config.a.swizzle), a_image.steps[step])
        at = len(a_bytes) + b_image.steps[step]
        text += make_descriptor("%descB", descriptor(b_image, config.b.swizzle), at)
        text += multiply(config, "1")
    # The other stage is free when the tile before is done, in all warps.
    text += COMMIT + wait(1) + f"""\
  bar.sync 0;
  and.b32 %word, %tile, 1;
  setp.eq.u32 %more, %word, 0;
  selp.u32 %word, {size}, {-size & 0xFFFFFFFF}, %more;
  add.u32 %base, %base, %word;
  add.u64 %from, %from, {size};
  add.u32 %tile, %tile, 1;
  setp.lt.u32 %more, %tile, {tiles};
  @%more bra LOOP;
"""
    text += wait(0) + move_d(config, load=False) + "  ret;\n}\n"
    before, after = data[0].before, data[0].after.astype(float)
    for each in data[1:]:
        after += each.after - each.before.astype(float)
    words = wgmma_data.d_words(config, before)
    arguments = [np.concatenate(images).view(np.uint32), np.zeros(1, np.uint32), words, np.zeros_like(words)]
    results = {3: wgmma_data.d_words(config, after.astype(before.dtype))}
    return Sweep(text, "wgmma", (1,), (THREADS,), arguments, results, label="stages", target="sm_90a")
