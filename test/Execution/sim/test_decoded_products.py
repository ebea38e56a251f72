"""Products with scales on sm_90a whose operands kernels in front decode, for wgmma."""

import re

import gpu_bundle
import pytest
import tiers
from simulated import SIMULATOR, features

CHECKS = ["--check=race,proxy,strict"]
# Those that every path takes, and scales at the ends of what bf16 holds.
SHARED = [
    case for case in gpu_bundle.every_case()
    if not getattr(case, "flags", ()) and not hasattr(case, "grid") and "blockscale.mma_scaled" in case.program.text()
]
EDGES = gpu_bundle.select("-edges")


def with_path(text):
    """Each product with the attribute that asks for the path: the sizes of tests would not choose it."""
    path = "blockscale.path = #blockscale.path<wgmma>"
    text, count = re.subn(
        r"(blockscale\.mma_scaled [^:{]*?) *(\{([^}]*)\} *)?:",
        lambda m: f"{m[1]} {{{m[3] + ', ' if m[3] else ''}{path}}} :", text,
    )
    assert count
    return text


def compiled(case, folder, flags=()):
    """PTX of the case, as gpu_bundle.write_case makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{case.name}.mlir"
    source.write_text(with_path(case.program.text()))
    ptx = folder / f"{case.name}.ptx"
    gpu_bundle.run([gpu_bundle.COMPILE, source, "--target=sm_90a", f"--launch-info={folder / case.name}.json",
                    *flags, *getattr(case, "flags", []), "-o", ptx])
    return ptx.read_text()


def about(case):
    """Each x, each y, each way to scale, and what is around products."""
    row = re.match(r"f\w+-f\w+-f\w+-\d+", case.name)
    types = [feature[1:] if isinstance(feature, tuple) else feature for feature in features(case)]
    return [*types, case.name.replace(row[0], "") if row else case.name]


@pytest.mark.parametrize("case", tiers.cover([*SHARED, *EDGES], about), ids=lambda case: case.name)
def test_all(case, tmp_path):
    text = compiled(case, tmp_path)
    assert "wgmma.mma_async.sync.aligned" in text and "__decode_" in text and "__exact_" in text
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, CHECKS)
