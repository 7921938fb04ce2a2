"""What a step of the fused search decides: which continuations are best, which end, which go on (see `search_kernel`).

The same rules as `beam.beam`. A candidate is one integer, `_pack`ed from its log-probability and its place in the
table of all continuations of all beams, beam * LINE + token: the greater, the better.
"""

from __future__ import annotations

from dualparse.engines.triton.optional import jit, tl


@jit
def find_best(
    table, live, length, V: tl.constexpr, K: tl.constexpr, KP: tl.constexpr, CP: tl.constexpr, S: tl.constexpr,
    PICK: tl.constexpr, LINE: tl.constexpr, COPY: tl.constexpr, EOS: tl.constexpr,
):  # fmt: skip
    """The 2k best continuations of all beams as keys, best first, [CP]."""
    row, candidate = tl.arange(0, KP), tl.arange(0, CP)
    WIDTH: tl.constexpr = V + S if COPY else V
    limit = V + length if COPY else V
    best = tl.full([CP], -9223372036854775807, tl.int64)  # below the key of every number
    for first in range(0, WIDTH, PICK):
        token = first + tl.arange(0, PICK)
        here = (row < K)[:, None] & (token < limit)[None, :]
        at = row[:, None] * LINE + token[None, :]
        value = live[:, None] + tl.load(table + at, mask=here, other=0.0)
        value = tl.where((token >= EOS)[None, :], value, float("-inf"))
        key = tl.where(here, _pack(value, at), -9223372036854775807)
        found = tl.full([CP], -9223372036854775807, tl.int64)
        for i in range(2 * K):
            top = tl.max(key)
            if WIDTH > PICK:
                top = tl.maximum(top, tl.max(best))
                best = tl.where(best == top, -9223372036854775807, best)
            key = tl.where(key == top, -9223372036854775807, key)
            found = tl.where(candidate == i, top, found)
        best = found
    return best


@jit
def _pack(value, index):
    """A number and its place as one integer: greater for a greater number, then for a smaller place."""
    bits = value.to(tl.int32, bitcast=True)
    ordered = tl.where(bits >= 0, bits, bits ^ 0x7FFFFFFF)
    return (ordered.to(tl.int64) << 32) | (0x7FFFFFFF - index).to(tl.int64)


@jit
def _unpack(key):
    ordered = (key >> 32).to(tl.int32)
    bits = tl.where(ordered >= 0, ordered, ordered ^ 0x7FFFFFFF)
    return bits.to(tl.float32, bitcast=True), 0x7FFFFFFF - (key & 0x7FFFFFFF).to(tl.int32)


@jit
def finish(
    best, pool, ends, topped, done, t, length_power,
    K: tl.constexpr, KP: tl.constexpr, CP: tl.constexpr, LINE: tl.constexpr, EOS: tl.constexpr,
):  # fmt: skip
    """What ends among the k best joins the pool; `done` when that is full and one of it was the best of its step."""
    candidate = tl.arange(0, CP)
    value, index = _unpack(best)
    joins = (index % LINE == EOS) & (candidate < K)
    if tl.max(joins.to(tl.int32)) > 0:
        rank = value / tl.exp2(length_power * tl.log2((t + 1).to(tl.float32)))
        pool, ends = _join(pool, ends, tl.where(joins, rank, float("-inf")), t * K + index // LINE, K, KP, CP)
        topped = tl.maximum(topped, tl.max((joins & (candidate == 0)).to(tl.int32)))
        done = tl.where(tl.min(pool) > float("-inf"), topped, 0)
    return pool, ends, topped, done


@jit
def _join(pool, ends, rank, end, K: tl.constexpr, KP: tl.constexpr, CP: tl.constexpr):
    """Those of the first k candidates that rank above -inf take the places of the worst finished."""
    row, candidate = tl.arange(0, KP), tl.arange(0, CP)
    for i in range(K):
        new = tl.sum(tl.where(candidate == i, rank, 0.0))
        where = tl.sum(tl.where(candidate == i, end, 0))
        worst = tl.min(pool)
        place = tl.min(tl.where(pool == worst, row, KP))
        takes = tl.where(row == place, new, float("-inf")) > worst
        pool = tl.where(takes, new, pool)
        ends = tl.where(takes, where, ends)
    return pool, ends


@jit
def go_on(best, K: tl.constexpr, KP: tl.constexpr, CP: tl.constexpr, LINE: tl.constexpr, EOS: tl.constexpr):
    """The k best of those that do not end: log-probability, token, parent, [KP] each; parent once more as [16]."""
    candidate = tl.arange(0, CP)
    _, index = _unpack(best)
    goes = (index % LINE != EOS) & (candidate < 2 * K)
    slot = tl.cumsum(goes.to(tl.int32)) - 1
    slot = tl.where(goes & (slot < K), slot, 16)
    live, chosen = _unpack(_place(slot, best, KP))
    _, chosen_wide = _unpack(_place(slot, best, 16))
    parent = tl.where(tl.arange(0, KP) < K, chosen // LINE, 0)
    return live, chosen % LINE, parent, tl.where(tl.arange(0, 16) < K, chosen_wide // LINE, 0)


@jit
def _place(slot, what, ROWS: tl.constexpr):
    """what[i] at place slot[i], [ROWS]; 0 where nothing goes."""
    row = tl.arange(0, ROWS)
    return tl.sum(tl.where(slot[:, None] == row[None, :], what[:, None], 0), 0)
