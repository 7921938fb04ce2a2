"""The kernel of `fused_search`: the whole beam search of one source, by one program of a GPU.

Weights and the encoder's output come in; every step's tokens and parents, and the finished hypotheses, go out. What is
known of a source is small, so its program keeps the beams' scores in registers, and what its threads have to tell each
other goes through buffers in global memory (in practice the card's cache) with a barrier between writing and reading.

A step costs what the weights it reads cost, so it reads little:

- W_hh, W_2 and the part of W_o that reads the decoder's state are one matrix, in half precision if wished.
- The context c = a . H enters the scores of the vocabulary linearly, so H W_o^T [S, V] is computed before the search
  and W_o is never read for the context: a . (H W_o^T) + W_o s. The same holds for the copy gate.
- tanh(x + y) = 1 - 2 / (e^2x e^2y + 1): the powers of the keys are computed once, and the 1 falls out of the softmax.

Buffers, one slice per source: hidden [k, n], cell [k, n], gates [k, 4n], read [k, n + V] (attention query, scores of
the vocabulary), powers [S', n] (e^2key), lean [S'] (the gate's share of every position), balance [k], scores [k, S']
(attention), logits [k, V + S'], table [k, V + S'] (log-probabilities). S' is the length as a power of two.
"""

from __future__ import annotations

from dualparse.engines.triton.candidates import find_best, finish, go_on
from dualparse.engines.triton.optional import jit, tl, triton

# Lengths differ from batch to batch: no variants of the kernel for those that happen to be multiples of 16.
entry = triton.jit(do_not_specialize=["length", "max_length"]) if triton else jit


@entry
def search_kernel(
    weights, input_gates, embedding, attention, gate, gate_bias,
    keys, states, projected, mask, copy, first_hidden, first_cell,
    hidden, cell, gates, read, powers, lean, balance, scores, logits, table, out,
    length, max_length, length_power,
    V: tl.constexpr, N: tl.constexpr, E: tl.constexpr, K: tl.constexpr, COPY: tl.constexpr,
    S: tl.constexpr, NP: tl.constexpr, EP: tl.constexpr, KP: tl.constexpr, CP: tl.constexpr,
    READ: tl.constexpr, LINE: tl.constexpr,
    BLOCK: tl.constexpr, STAGES: tl.constexpr, WIDE: tl.constexpr, PICK: tl.constexpr, PRECISION: tl.constexpr,
    UNK: tl.constexpr, BOS: tl.constexpr, EOS: tl.constexpr,
):  # fmt: skip
    """Search for the source of this program.

    S, NP, EP, KP, CP: length, n, embedding, k, 2k as powers of two. READ, LINE: the rows of `read`, and of `logits` and
    `table`, as multiples of 16, so that they are read in whole pieces.
    """
    source = tl.program_id(0).to(tl.int64)
    keys += source * length * N
    states += source * length * 2 * N
    projected += source * length * V
    mask += source * length
    copy += source * length
    hidden += source * K * N
    cell += source * K * N
    gates += source * K * 4 * N
    read += source * K * READ
    powers += source * S * N
    lean += source * S
    balance += source * K
    scores += source * K * S
    logits += source * K * LINE
    table += source * K * LINE
    out += source * (max_length + 3) * K
    positions = tl.arange(0, S)
    real = tl.max(tl.where(tl.load(mask + positions, mask=positions < length, other=0) != 0, positions + 1, 0))
    real = tl.where(real == 0, length, real)  # an empty source looks at all its padding alike
    _prepare(keys, states, gate, gate_bias, powers, lean, real, length, N, NP, COPY)
    _start(first_hidden + source * N, first_cell + source * N, hidden, cell, N, NP)

    row = tl.arange(0, KP)
    token = tl.full([KP], BOS, tl.int32)
    parent = tl.zeros([KP], tl.int32)
    parent_wide = tl.zeros([16], tl.int32)  # the same for the rows of a matrix product, which has at least 16
    live = tl.where(row == 0, 0.0, float("-inf"))
    pool = tl.where(row < K, float("-inf"), float("inf"))  # ranks of the finished; float("inf") keeps a row out
    ends = tl.zeros([KP], tl.int32)
    topped = tl.full([], 0, tl.int32)
    done = tl.full([], 0, tl.int32)
    t = tl.full([], 0, tl.int32)
    tl.debug_barrier()
    while (t < max_length) & (done == 0):
        old_cell = _load_rows(cell, parent, N, N, K, KP, NP)
        _multiply(hidden, parent_wide, weights, gates, 4 * N, 4 * N, N, NP, K, BLOCK, STAGES, PRECISION)
        tl.debug_barrier()
        known = tl.where(token < V, token, UNK)
        _cell(gates, input_gates, embedding, gate, known, old_cell, hidden, cell, balance, N, NP, E, EP, K, KP, COPY)
        tl.debug_barrier()
        itself = tl.arange(0, 16)
        _multiply(hidden, itself, weights + 4 * N * N, read, N + V, READ, N, NP, K, BLOCK, STAGES, PRECISION)
        tl.debug_barrier()
        _attend(read, attention, powers, scores, real, N, NP, K, KP, S, READ)
        tl.debug_barrier()
        peak, mass = _softmax(scores, mask, length, K, S)
        total = _generate(read, projected, scores, mask, peak, mass, logits, real, length, N, V, K, S, WIDE, READ, LINE)
        tl.debug_barrier()
        tilt = _tilt(lean, balance, scores, mask, peak, mass, real, length, K, S, COPY)
        _mix(logits, total, copy, tilt, scores, mask, peak, mass, table, real, length, V, K, S, WIDE, LINE, COPY)
        tl.debug_barrier()
        best = find_best(table, live, length, V, K, KP, CP, S, PICK, LINE, COPY, EOS)
        pool, ends, topped, done = finish(best, pool, ends, topped, done, t, length_power, K, KP, CP, LINE, EOS)
        live, token, parent, parent_wide = go_on(best, K, KP, CP, LINE, EOS)
        tl.store(out + t * K + row, token * K + parent, mask=row < K)
        t += 1
    out += max_length * K
    tl.store(out + row, pool.to(tl.int32, bitcast=True), mask=row < K)
    tl.store(out + K + row, ends, mask=row < K)
    tl.store(out + 2 * K + row, live.to(tl.int32, bitcast=True), mask=row < K)


@jit
def _prepare(
    keys, states, gate, gate_bias, powers, lean, real, length, N: tl.constexpr, NP: tl.constexpr, COPY: tl.constexpr
):  # fmt: skip
    """What a source's positions give to every step: e^2key, and their share of the copy gate."""
    unit = tl.arange(0, NP)
    both = tl.arange(0, 2 * NP)
    start = tl.full([], 0, tl.int32)
    while start < real:
        position = start + tl.arange(0, 16)
        here = (position < length)[:, None]
        key = tl.load(keys + position[:, None] * N + unit[None, :], mask=here & (unit < N)[None, :], other=0.0)
        tl.store(powers + position[:, None] * N + unit[None, :], _power(key), mask=(unit < N)[None, :])
        if COPY:
            state = tl.load(
                states + position[:, None] * 2 * N + both[None, :], mask=here & (both < 2 * N)[None, :], other=0.0
            )
            weight = tl.load(gate + N + both, mask=both < 2 * N, other=0.0)
            tl.store(lean + position, tl.sum(state * weight[None, :], 1) + tl.load(gate_bias))
        start += 16


@jit
def _power(x):
    """e^2x, kept so small that the product of two is finite."""
    return tl.exp(2.0 * tl.minimum(tl.maximum(x, -22.0), 22.0))


@jit
def _start(first_hidden, first_cell, hidden, cell, N: tl.constexpr, NP: tl.constexpr):
    """The decoder's first state, as that of beam 0."""
    unit = tl.arange(0, NP)
    first = tl.load(first_hidden + unit, mask=unit < N, other=0.0)
    tl.store(hidden + unit, first.to(hidden.dtype.element_ty), mask=unit < N)
    tl.store(cell + unit, tl.load(first_cell + unit, mask=unit < N, other=0.0), mask=unit < N)


@jit
def _load_rows(
    matrix, place, STRIDE: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, NP: tl.constexpr
):
    """Rows `place` of a buffer, [ROWS, NP]; 0 beyond k and beyond N."""
    row, unit = tl.arange(0, ROWS), tl.arange(0, NP)
    return tl.load(
        matrix + place[:, None] * STRIDE + unit[None, :], mask=(row < K)[:, None] & (unit < N)[None, :], other=0.0
    )


@jit
def _multiply(
    hidden, place, weights, result, COUNT: tl.constexpr, STRIDE: tl.constexpr, N: tl.constexpr, NP: tl.constexpr,
    K: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """result[r] = weights [COUNT, N] @ hidden[place[r]]."""
    HALF: tl.constexpr = NP // 2  # two sums side by side: one alone waits for each of its terms
    row, unit = tl.arange(0, 16), tl.arange(0, HALF)
    left = _load_rows(hidden, place, N, N, K, 16, HALF)
    right = _load_rows(hidden + HALF, place, N, N - HALF, K, 16, HALF)
    for start in tl.range(0, COUNT, BLOCK, num_stages=STAGES):
        output = start + tl.arange(0, BLOCK)
        at = weights + output[None, :] * N + unit[:, None]
        there = (output < COUNT)[None, :]
        left_weight = tl.load(at, mask=there & (unit < N)[:, None], other=0.0)
        right_weight = tl.load(at + HALF, mask=there & (unit < N - HALF)[:, None], other=0.0)
        product = tl.dot(left, left_weight, input_precision=PRECISION)
        product += tl.dot(right, right_weight, input_precision=PRECISION)
        tl.store(result + row[:, None] * STRIDE + output[None, :], product, mask=(row < K)[:, None] & there)


@jit
def _cell(
    gates, input_gates, embedding, gate, token, old_cell, hidden, cell, balance,
    N: tl.constexpr, NP: tl.constexpr, E: tl.constexpr, EP: tl.constexpr, K: tl.constexpr, KP: tl.constexpr,
    COPY: tl.constexpr,
):  # fmt: skip
    """The decoder's new state, and the copy gate's share of it and of the token read."""
    row, unit = tl.arange(0, KP), tl.arange(0, NP)
    itself = row * 1
    entered = _load_rows(gates, itself, 4 * N, N, K, KP, NP) + _load_rows(input_gates, token, 4 * N, N, K, KP, NP)
    kept = _load_rows(gates + N, itself, 4 * N, N, K, KP, NP)
    kept += _load_rows(input_gates + N, token, 4 * N, N, K, KP, NP)
    proposed = _load_rows(gates + 2 * N, itself, 4 * N, N, K, KP, NP)
    proposed += _load_rows(input_gates + 2 * N, token, 4 * N, N, K, KP, NP)
    shown = _load_rows(gates + 3 * N, itself, 4 * N, N, K, KP, NP)
    shown += _load_rows(input_gates + 3 * N, token, 4 * N, N, K, KP, NP)
    new = tl.sigmoid(kept) * old_cell + tl.sigmoid(entered) * _tanh(proposed)
    state = tl.sigmoid(shown) * _tanh(new)
    here = (row < K)[:, None] & (unit < N)[None, :]
    tl.store(cell + row[:, None] * N + unit[None, :], new, mask=here)
    tl.store(hidden + row[:, None] * N + unit[None, :], state.to(hidden.dtype.element_ty), mask=here)
    if COPY:
        feature = tl.arange(0, EP)
        embedded = _load_rows(embedding, token, E, E, K, KP, EP)
        share = tl.sum(state * tl.load(gate + unit, mask=unit < N, other=0.0)[None, :], 1)
        share += tl.sum(embedded * tl.load(gate + 3 * N + feature, mask=feature < E, other=0.0)[None, :], 1)
        tl.store(balance + row, share, mask=row < K)


@jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@jit
def _attend(
    read, attention, powers, scores, real, N: tl.constexpr, NP: tl.constexpr, K: tl.constexpr, KP: tl.constexpr,
    S: tl.constexpr, READ: tl.constexpr,
):  # fmt: skip
    """Attention scores of all beams at all positions, up to the same constant for all."""
    row, unit = tl.arange(0, KP), tl.arange(0, NP)
    weight = tl.load(attention + unit, mask=unit < N, other=0.0)
    start = tl.full([], 0, tl.int32)
    while start < real:
        position = start + tl.arange(0, 16)
        power = tl.load(powers + position[:, None] * N + unit[None, :], mask=(unit < N)[None, :], other=0.0)
        score = tl.zeros([16, KP], tl.float32)
        for beam in tl.static_range(K):
            query = _power(tl.load(read + beam * READ + unit, mask=unit < N, other=0.0))
            mixed = tl.sum(weight[None, :] / (power * query[None, :] + 1.0), 1)
            score = tl.where((row == beam)[None, :], -2.0 * mixed[:, None], score)
        tl.store(scores + row[None, :] * S + position[:, None], score, mask=(row < K)[None, :])
        start += 16


@jit
def _scores(scores, mask, position, length, K: tl.constexpr, S: tl.constexpr):
    """Attention scores at some positions, [16, .]: far down at padding, -inf beyond the source."""
    row = tl.arange(0, 16)
    there = tl.load(mask + position, mask=position < length, other=0) != 0
    score = tl.load(scores + row[:, None] * S + position[None, :], mask=(row < K)[:, None] & there[None, :], other=-1e4)
    return tl.where((position < length)[None, :], score, float("-inf"))


@jit
def _softmax(scores, mask, length, K: tl.constexpr, S: tl.constexpr):
    """Largest score of every beam, and the sum of the exponentials under it."""
    score = _scores(scores, mask, tl.arange(0, S), length, K, S)
    peak = tl.max(score, 1)
    return peak, tl.sum(tl.exp(score - peak[:, None]), 1)


@jit
def _generate(
    read, projected, scores, mask, peak, mass, logits, real, length,
    N: tl.constexpr, V: tl.constexpr, K: tl.constexpr, S: tl.constexpr, WIDE: tl.constexpr,
    READ: tl.constexpr, LINE: tl.constexpr,
):  # fmt: skip
    """Scores of the vocabulary go to `logits`; the logarithm of the sum of their exponentials comes back, [16]."""
    row = tl.arange(0, 16)
    SOME: tl.constexpr = S if S < 32 else 32
    peak_token = tl.full([16], float("-inf"), tl.float32)
    sum_token = tl.zeros([16], tl.float32)
    for first in range(0, V, WIDE):
        token = first + tl.arange(0, WIDE)
        here = (row < K)[:, None] & (token < V)[None, :]
        logit = tl.zeros([16, WIDE], tl.float32)
        start = tl.full([], 0, tl.int32)
        while start < real:
            position = start + tl.arange(0, SOME)
            weight = tl.exp(_scores(scores, mask, position, length, K, S) - peak[:, None]) / mass[:, None]
            share = tl.load(
                projected + position[:, None] * V + token[None, :],
                mask=(position < length)[:, None] & (token < V)[None, :],
                other=0.0,
            )
            logit = tl.dot(weight, share, logit, input_precision="tf32x3")
            start += SOME
        logit += tl.load(read + row[:, None] * READ + N + token[None, :], mask=here, other=0.0)
        tl.store(logits + row[:, None] * LINE + token[None, :], logit, mask=here)
        logit = tl.where((token < V)[None, :], logit, float("-inf"))
        higher = tl.maximum(peak_token, tl.max(logit, 1))
        sum_token = sum_token * tl.exp(peak_token - higher) + tl.sum(tl.exp(logit - higher[:, None]), 1)
        peak_token = higher
    return peak_token + tl.log(sum_token)


@jit
def _tilt(
    lean, balance, scores, mask, peak, mass, real, length, K: tl.constexpr, S: tl.constexpr, COPY: tl.constexpr
):  # fmt: skip
    """The copy gate before its sigmoid, [16]: high to generate, low to copy."""
    row, position = tl.arange(0, 16), tl.arange(0, S)
    tilt = tl.zeros([16], tl.float32)
    if COPY:
        weight = tl.exp(_scores(scores, mask, position, length, K, S) - peak[:, None]) / mass[:, None]
        side = tl.load(lean + position, mask=position < real, other=0.0)
        tilt = tl.load(balance + row, mask=row < K, other=0.0) + tl.sum(weight * side[None, :], 1)
    return tilt


@jit
def _mix(
    logits, total, copy, tilt, scores, mask, peak, mass, table, real, length,
    V: tl.constexpr, K: tl.constexpr, S: tl.constexpr, WIDE: tl.constexpr, LINE: tl.constexpr, COPY: tl.constexpr,
):  # fmt: skip
    """Log-probabilities of all extended numbers go to `table`: generated, copied, or both."""
    row = tl.arange(0, 16)
    SOME: tl.constexpr = S if S < 32 else 32
    WIDTH: tl.constexpr = V + S if COPY else V
    for first in range(0, WIDTH, WIDE):
        token = first + tl.arange(0, WIDE)
        logit = tl.load(
            logits + row[:, None] * LINE + token[None, :],
            mask=(row < K)[:, None] & (token < V)[None, :],
            other=float("-inf"),
        )
        log_prob = logit - total[:, None]
        if COPY:
            copied = tl.zeros([16, WIDE], tl.float32)
            start = tl.full([], 0, tl.int32)
            while start < real:
                position = start + tl.arange(0, SOME)
                weight = tl.exp(_scores(scores, mask, position, length, K, S) - peak[:, None]) / mass[:, None]
                number = tl.load(copy + position, mask=position < length, other=-1)
                same = (number[:, None] == token[None, :]).to(tl.float32)
                copied = tl.dot(weight, same, copied, input_precision="tf32x3")
                start += SOME
            log_prob = tl.log(tl.exp(log_prob) * tl.sigmoid(tilt)[:, None] + copied * tl.sigmoid(-tilt)[:, None])
        tl.store(
            table + row[:, None] * LINE + token[None, :],
            log_prob,
            mask=(row < K)[:, None] & (token < WIDTH)[None, :],
        )
