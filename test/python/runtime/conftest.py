"""The fake driver (test/FakeCuda) in place of a card, in the process of the tests."""

import ctypes

import pytest
from paths import FAKE


class FakeCuda:
    """What tests want of the driver, and what was called."""

    def __init__(self, folder, monkeypatch):
        self.library = ctypes.CDLL(str(FAKE))
        self._trace, self._monkeypatch = folder / "trace", monkeypatch
        self.set(TRACE=str(self._trace), STREAMS="any")

    def set(self, **settings):
        """`CAPABILITY="80"` sets FAKE_CUDA_CAPABILITY; None takes it away."""
        for name, value in settings.items():
            if value is None:
                self._monkeypatch.delenv(f"FAKE_CUDA_{name}", raising=False)
            else:
                self._monkeypatch.setenv(f"FAKE_CUDA_{name}", value)

    def trace(self):
        """The lines since the last call."""
        lines = self._trace.read_text().splitlines() if self._trace.exists() else []
        self._trace.unlink(missing_ok=True)
        return lines

    def memory(self):
        """How many buffers and modules there are, as a line."""
        before = self.trace()
        self.library.cuDevicePrimaryCtxRelease_v2(0)
        [line] = [line for line in self.trace() if line.startswith("release ")]
        self._trace.write_text("".join(f"{each}\n" for each in before))
        return line

    def launches(self):
        return [line for line in self.trace() if line.startswith("launch ")]

    def allocate(self, size):
        """The address of memory of the card, which is memory of the process."""
        address = ctypes.c_uint64()
        assert self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
        return address.value


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Every test has a driver that nobody has used, and no current context."""
    from blockscale.runtime import device, driver

    if not FAKE.exists():
        pytest.skip("needs the fake driver, target FakeCuda")
    driver.get_driver.cache_clear()
    monkeypatch.setattr(device, "_devices", {})
    fake = FakeCuda(tmp_path, monkeypatch)
    fake.library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    fake.trace()
    yield fake
    driver.get_driver.cache_clear()
