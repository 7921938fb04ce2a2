"""Triton where it is installed. It comes with PyTorch where there is a GPU; without one the modules of kernels are
imported all the same, for their names and their tests in Triton's interpreter."""

from __future__ import annotations

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = tl = None

jit = triton.jit if triton else lambda function: function
