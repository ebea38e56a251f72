"""Single instructions in the simulator against what a card made of the same values (cards.json)."""

import json

import launch
import matrix_sweep
import pytest
import sweep
from test_kernels import SIMULATOR

CARD = json.loads((launch.Path(__file__).parent / "cards.json").read_text())


@pytest.mark.parametrize("module", [sweep, matrix_sweep], ids=lambda module: module.__name__)
def test_as_on_a_card(module, tmp_path):
    assert module.run(tmp_path, SIMULATOR, "", []) == 0
    expected, got = CARD[module.__name__], module.digest(tmp_path)
    assert got.keys() == expected.keys()
    different = [name for name in got if got[name] != expected[name]]
    assert not different, different
