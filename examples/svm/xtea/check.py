"""What xtea.c writes: the text plus XTEA of a counter, all pairs at once in NumPy."""

import numpy as np

ARGUMENTS = ["00112233445566778899aabbccddeeff", "fffffffffffffff0"]
TOLERANCE = 0


def data(random):
    return [random.integers(0, 256, random.integers(1, 40000)).astype("u1")]


def expected(text):
    key = [int(ARGUMENTS[0][i:i + 8], 16) for i in range(0, 32, 8)]
    with np.errstate(over="ignore"):
        numbers = np.uint64(int(ARGUMENTS[1], 16)) + np.arange((len(text) + 7) // 8, dtype="u8")
        left, right = (numbers >> np.uint64(32)).astype("u4"), numbers.astype("u4")
        for cycle in range(32):
            before, after = cycle * 0x9E3779B9 % 2**32, (cycle + 1) * 0x9E3779B9 % 2**32
            left += ((right << 4 ^ right >> 5) + right) ^ np.uint32((before + key[before & 3]) % 2**32)
            right += ((left << 4 ^ left >> 5) + left) ^ np.uint32((after + key[after >> 11 & 3]) % 2**32)
    pad = np.stack([left, right], axis=1).astype(">u4").tobytes()
    return text ^ np.frombuffer(pad, "u1")[:len(text)]
