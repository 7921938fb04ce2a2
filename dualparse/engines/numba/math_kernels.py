"""What compiled loops are made of: how they are compiled, and functions that become vector instructions inside them."""

from __future__ import annotations

import numpy as np
from numba import njit

REORDERED = {"reassoc", "contract", "nsz", "arcp", "afn"}  # sums in any order; infinities stay what they are

compiled = njit(cache=True, nogil=True, fastmath=REORDERED, error_model="numpy")
inlined = njit(inline="always", fastmath=REORDERED, error_model="numpy")
single = np.float32


@inlined
def exp(x):
    """e^x to single precision: 2^k times a polynomial of what is left (Cephes); 0 where it is next to nothing."""
    y = min(max(x, single(-87.0)), single(88.0))
    k = np.floor(y * single(1.44269504) + single(0.5))
    rest = y - k * single(0.693147181)
    p = single(1.9875691500e-4)
    p = p * rest + single(1.3981999507e-3)
    p = p * rest + single(8.3334519073e-3)
    p = p * rest + single(4.1665795894e-2)
    p = p * rest + single(1.6666665459e-1)
    p = p * rest + single(5.0000001201e-1)
    p = p * rest * rest + rest + single(1.0)
    power = p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    return power if x > single(-87.0) else single(0.0)


@inlined
def sigmoid(x):
    return single(1.0) / (single(1.0) + exp(-x))


@inlined
def tanh(x):
    return single(1.0) - single(2.0) / (single(1.0) + exp(single(2.0) * x))
