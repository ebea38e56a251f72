"""`--numerics=hardware` against what an H200 computed: checksums of a small sample of every form."""

import json
import os
import pathlib
import sys
import types

import numpy as np
import pytest

REPO = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
sys.path.insert(0, str(REPO / "benchmarks"))

import hardware_numerics  # noqa: E402

SUMS = json.loads((pathlib.Path(__file__).parent / "hardware_sums.json").read_text())


def test_every_form_has_a_sum():
    assert list(SUMS) == [form.name for form in hardware_numerics.FORMS]


@pytest.mark.parametrize("form", hardware_numerics.FORMS, ids=lambda form: form.name)
def test_sample(form):
    results = hardware_numerics.simulate(form, hardware_numerics.SAMPLE_TASKS, BUILD)
    assert hardware_numerics.checksum(results) == SUMS[form.name]


def test_check_lists_what_differs(tmp_path, capsys):
    form = hardware_numerics.FORMS[0]
    results = hardware_numerics.simulate(form, 2, BUILD)
    results[2, 1, 7] ^= 1
    np.save(tmp_path / f"{form.name}.npy", results)
    hardware_numerics.check(types.SimpleNamespace(card=tmp_path, build=BUILD, list=5), [form])
    first, second, last = capsys.readouterr().out.splitlines()
    assert first == f"{form.name}: 1792 results, 1 differ (cancellation 1)"
    assert second.startswith("  cancellation, task 1, element 7: card ")
    assert last == "1 forms, 1 results differ, of one form at most 5.6e-04 of them"
