"""blockscale.torch with a stand-in for torch, on the CPU and on the fake driver."""

import ctypes
import os
import sys
from pathlib import Path

import pytest
from mini_torch import make_torch

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
FAKE = BUILD / "test" / "FakeCuda" / "libcuda.so.1"
BUNDLE = BUILD / "python" / "blockscale" / "torch" / "kernels.bundle"


class FakeCard:
    """Memory of the fake driver, and the kernels that were launched."""

    def __init__(self, trace):
        self.library, self._trace = ctypes.CDLL(str(FAKE)), trace

    def allocate(self, size):
        address = ctypes.c_uint64()
        assert self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
        return address.value

    def kernels(self):
        """Their names since the last call."""
        lines = self._trace.read_text().splitlines() if self._trace.exists() else []
        self._trace.unlink(missing_ok=True)
        return [line.split()[1] for line in lines if line.startswith("launch ")]


def use(monkeypatch, torch):
    """Modules of blockscale.torch are imported anew, with this torch."""
    import blockscale
    from blockscale.runtime import arrays

    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"
                 or name.startswith("blockscale.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.nn", torch.nn)
    monkeypatch.setattr(arrays, "READERS", dict(arrays.READERS))
    monkeypatch.setattr("blockscale.runtime.kernel.READERS", arrays.READERS)
    yield torch
    for name in [name for name in sys.modules if name.startswith("blockscale.torch")]:
        del sys.modules[name]
    vars(blockscale).pop("torch", None)


@pytest.fixture
def torch(monkeypatch):
    """On the CPU."""
    yield from use(monkeypatch, make_torch(None))


@pytest.fixture
def card(tmp_path, monkeypatch):
    if not FAKE.exists():
        pytest.skip("needs the fake driver, target FakeCuda")
    if "BLOCKSCALE_TORCH_BUNDLE" not in os.environ:
        if not BUNDLE.exists():
            pytest.skip("needs kernels.bundle, target blockscale-torch-kernels")
        monkeypatch.setenv("BLOCKSCALE_TORCH_BUNDLE", str(BUNDLE))
    from blockscale.runtime import device, driver

    driver.get_driver.cache_clear()
    monkeypatch.setattr(device, "_devices", {})
    monkeypatch.setenv("FAKE_CUDA_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("FAKE_CUDA_STREAMS", "any")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(FAKE.parent))
    card = FakeCard(tmp_path / "trace")
    card.library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    card.kernels()
    yield card
    driver.get_driver.cache_clear()


@pytest.fixture
def card_torch(card, monkeypatch):
    yield from use(monkeypatch, make_torch(card))


@pytest.fixture
def fp8_torch(card, monkeypatch):
    """On the fake driver, with fp8.bundle."""
    if not Path(os.environ["BLOCKSCALE_TORCH_BUNDLE"]).with_name("fp8.bundle").exists():
        pytest.skip("needs fp8.bundle, target blockscale-torch-fp8-kernels")
    yield from use(monkeypatch, make_torch(card))
