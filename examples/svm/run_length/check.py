"""What run_length.c writes: the runs of each piece as words, packed where they are many. Runs are found by NumPy, and codes put together
as text."""

import numpy as np

TOLERANCE = 0
PIECE = 2048


def data(random):
    pieces = [np.repeat(random.integers(0, 256, 3000, "u1"), random.integers(1, most, 3000)) for most in (2, 3, 9, 400)]
    pieces.append(np.zeros(9000, "u1"))
    random.shuffle(pieces)
    return [np.concatenate(pieces)[:random.integers(1, 700000)]]


def runs(piece):
    begins = np.concatenate([[0], np.flatnonzero(np.diff(piece)) + 1, [len(piece)]])
    return [(int(piece[begin]), int(end - begin)) for begin, end in zip(begins, begins[1:])]


def packed(found):
    bits = []
    for value, length in found:
        binary = bin(length)[2:]
        bits.append("0" * (len(binary) - 1) + binary + format(value, "08b")[::-1])
    text = "".join(bits)
    return [int(text[i:i + 32][::-1], 2) for i in range(0, len(text), 32)]


def expected(values):
    words = []
    for begin in range(0, len(values), PIECE):
        found = runs(values[begin:begin + PIECE])
        many = len(found) > PIECE // 4
        coded = packed(found) if many else [length * 256 + value for value, length in found]
        words += [2 * len(coded) + many, *coded]
    return np.array(words, "u4")
