"""Benchmarks: measured beside a peer in the same run, printed with ratios. `python -m benchmarks.run` runs them."""
