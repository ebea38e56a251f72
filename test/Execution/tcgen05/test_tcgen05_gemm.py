"""A whole GEMM with tcgen05.mma: 256 x 256 x 512 in four CTAs, two stages."""

import harness
import pytest
from gemm_kernel import Gemm


@pytest.mark.parametrize("seed", range(2))
def test_gemm(seed, tmp_path):
    gemm = Gemm(256, 256, 512)
    code, out, messages = gemm.launch(tmp_path, gemm.text, [f"--seed={seed}", "--check=race,proxy,strict"])
    assert code == 0 and messages == "", f"exit code {code}\n{messages}"
    harness.assert_bit_equal(out, gemm.expected)
