"""Random numbers that are the same with every version of numpy, so that results can be stored."""

from zlib import crc32

import numpy as np


class Stream:
    """SplitMix64, from a seed that is a text."""

    def __init__(self, seed):
        self.state = crc32(seed.encode())

    def words(self, shape):
        """Uniform 64-bit numbers."""
        count = int(np.prod(shape))
        with np.errstate(over="ignore"):
            steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            z = np.uint64(self.state) + steps
            self.state = int(z[-1])
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (z ^ (z >> np.uint64(31))).reshape(shape)

    def integers(self, smallest, largest, shape):
        """Integers from `smallest` to `largest`, both included."""
        return (self.words(shape) % np.uint64(largest - smallest + 1)).astype(np.int64) + smallest

    def choice(self, values, shape):
        return np.asarray(values)[self.integers(0, len(values) - 1, shape)]
