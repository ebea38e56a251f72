"""One line that synchronises is left out of the PTX of a kernel that dequantizes y on its way to matrix
instructions, at a time: an error, a warning or wrong sums must show it, under some of eight seeds.
"""

import re
import subprocess

import blockscale
import numpy as np
import pytest
from gpu_bundle import COMPILE
from warp_specialized_kernels import STEPS, Pipeline, forget_digest
from warp_specialized_mutants import is_among, try_removals
from test_mixed_input import Product, schedule_text
from test_wgmma_mutations import FEW_SEEDS, SEEDS
from test_wgmma_mutations import NEEDLESS as OF_RINGS

# M, N, K, the tile, and the type of x and y: five steps along K in two stages.
KERNELS = {
    "16 rows": (16, 64, 1280, (64, 16, 256), "f8E4M3FN"),
    "32 rows": (32, 64, 2560, (64, 32, 512), "f8E4M3FN"),
    "one row": (1, 64, 2560, (64, 1, 512), "f4E2M1FN"),
    "one row anew": (1, 64, 2560, (64, 1, 512), "f4E2M1FN"),
}

# Lines all of which may be missing unnoticed, by the start of their names, and why.
NEEDLESS = {
    **OF_RINGS,
    "grid > ld.global": "warps that multiply load scales, arguments that no kernel in front stores, and store behind "
    "copies that another warp begins behind its own wait",
}


def make_product(m, n, k, element, is_anew):
    """Values whose products add up exactly."""
    product = Product(m, n, k, element, element, near=2)
    rng = np.random.default_rng(k)
    for codes in (product.x, product.y):
        codes[...] = blockscale.encode(rng.integers(-4, 5, codes.shape), element)
    if is_anew:
        product.xs[0, -1], product.ys[2, -1] = 120, 0
    return product


@pytest.fixture(scope="module", params=list(KERNELS))
def pipeline(request, tmp_path_factory):
    m, n, k, tile, element = KERNELS[request.param]
    product = make_product(m, n, k, element, is_anew="anew" in request.param)
    folder = tmp_path_factory.mktemp("mixed-input")
    (folder / "p.mlir").write_text(product.text)
    subprocess.run(
        [COMPILE, "p.mlir", "--target=sm_90a", f"--schedule={schedule_text(*tile)}", "-o", "p.ptx",
         "--launch-info=p.json"], cwd=folder, check=True, capture_output=True,
    )
    forget_digest(folder / "p.json")
    arguments = [f"--launch-info={folder / 'p.json'}", "--check=race,proxy,strict", f"--max-steps={STEPS}"]
    pack = pack_fp4 if element.startswith("f4") else np.asarray
    for i, array in enumerate((pack(product.x), product.xs, pack(product.y), product.ys)):
        np.save(folder / f"in{i}.npy", array)
        arguments.append(f"in:{folder / f'in{i}.npy'}")
    arguments.append(f"out:{folder / 'out.npy'}:f4:{m}x{n}")
    operands = product.x, product.xs, product.y.T, product.ys.T, np.zeros((m, n), np.float32)
    expected = blockscale.mma_scaled(*operands, **product.types)
    return Pipeline("p", folder, (folder / "p.ptx").read_text(), arguments, expected)


def pack_fp4(codes):
    return codes[:, ::2] | codes[:, 1::2] << 4


def converting(text):
    """The kernel of a module that is neither in front of the product nor computes it anew."""
    entries = re.findall(r"^\.visible \.entry (\w+)\(.*?^}", text, re.MULTILINE | re.DOTALL)
    [name] = [name for name in entries if "__dequantize_operand" not in name and "__exact_recomputation" not in name]
    return re.search(rf"^\.visible \.entry {name}\(.*?^}}", text, re.MULTILINE | re.DOTALL)[0]


def test_correct(pipeline):
    assert pipeline.shows(pipeline.text, SEEDS) is None


def test_each_line_is_needed(pipeline):
    kernel = converting(pipeline.text)
    unnoticed, noticed = try_removals(pipeline, kernel, SEEDS, FEW_SEEDS, NEEDLESS)
    names = unnoticed | noticed
    kinds = {name.split(" > ")[0] for name in names}
    assert kinds >= {"wait", "expect_tx", "arrive", "bar.sync", "grid"}
    warpgroups = {"wgmma.fence", "wgmma.commit_group", "wgmma.wait_group"}
    assert kinds & warpgroups == (warpgroups if "wgmma" in kernel else set())
    assert unnoticed == {name for name in names if is_among(name, NEEDLESS)}
    assert not unnoticed & noticed
