"""Micro-batching without a model: what goes together, what is refused, and what happens to the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.use.service.batching import Batcher, NoRoom


class Work:
    """Doubles numbers and remembers its calls. Waits for `gate` where there is one; 13 is bad."""

    def __init__(self, *, gated: bool = False):
        self.calls: list[list[int]] = []
        self.gate = threading.Event()
        if not gated:
            self.gate.set()

    def __call__(self, jobs: Sequence[int]) -> list[int]:
        self.calls.append(list(jobs))
        assert self.gate.wait(30)
        if 13 in jobs:
            raise ValueError("13")
        return [2 * job for job in jobs]


async def submit_all(work: Work, jobs: Sequence[int], **options: object) -> list[int | BaseException]:
    async with Batcher(work, **({"most": 32, "room": 100} | options)) as batcher:  # type: ignore[arg-type]
        return await asyncio.gather(*map(batcher.submit, jobs), return_exceptions=True)


def test_jobs_that_wait_together_run_together():
    work = Work()
    assert asyncio.run(submit_all(work, range(10))) == [2 * n for n in range(10)]
    assert work.calls == [list(range(10))]


def test_a_batch_has_at_most_so_many():
    work = Work()
    assert asyncio.run(submit_all(work, range(10), most=4)) == [2 * n for n in range(10)]
    assert [len(call) for call in work.calls] == [4, 4, 2]


def test_what_arrives_during_a_batch_forms_the_next():
    work = Work(gated=True)

    async def scene() -> list[int]:
        async with Batcher(work, most=32, room=100) as batcher:
            first = asyncio.create_task(batcher.submit(1))
            while not work.calls:
                await asyncio.sleep(0.001)
            others = [asyncio.create_task(batcher.submit(n)) for n in (2, 3, 4)]
            await asyncio.sleep(0)
            assert batcher.waiting == 3
            work.gate.set()
            return await asyncio.gather(first, *others)

    assert asyncio.run(scene()) == [2, 4, 6, 8]
    assert work.calls == [[1], [2, 3, 4]]


def test_one_bad_job_harms_no_other():
    work = Work()
    results = asyncio.run(submit_all(work, [1, 13, 2]))
    assert results[0] == 2 and results[2] == 4
    assert isinstance(results[1], ValueError)
    assert work.calls == [[1, 13, 2], [1], [13], [2]]


def test_only_jobs_alike_run_together():
    work = Work()
    assert asyncio.run(submit_all(work, range(6), alike=lambda n: n % 2)) == [2 * n for n in range(6)]
    assert work.calls == [[0, 2, 4], [1, 3, 5]]


def test_no_room():
    work = Work()
    results = asyncio.run(submit_all(work, range(5), room=3))
    assert results[:3] == [0, 2, 4]
    assert all(isinstance(result, NoRoom) for result in results[3:])


def test_who_gives_up_gives_its_place_away():
    work = Work(gated=True)

    async def scene() -> int:
        async with Batcher(work, most=1, room=1) as batcher:
            first = asyncio.create_task(batcher.submit(1))
            while not work.calls:
                await asyncio.sleep(0.001)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(batcher.submit(2), 0.01)
            assert batcher.waiting == 0
            third = asyncio.create_task(batcher.submit(3))
            await asyncio.sleep(0)
            work.gate.set()
            await first
            return await third

    assert asyncio.run(scene()) == 6
    assert work.calls == [[1], [3]]


def test_leaving_finishes_what_was_accepted_and_takes_no_more():
    work = Work(gated=True)

    async def scene() -> list[int]:
        batcher = Batcher(work, most=2, room=100)
        async with batcher:
            accepted = [asyncio.create_task(batcher.submit(n)) for n in range(5)]
            await asyncio.sleep(0)
            threading.Timer(0.05, work.gate.set).start()
        with pytest.raises(NoRoom):
            await batcher.submit(9)
        assert all(task.done() for task in accepted)
        return [task.result() for task in accepted]

    assert asyncio.run(scene()) == [0, 2, 4, 6, 8]


def test_idle_workers_share_what_waits():
    work = Work(gated=True)

    async def scene() -> list[int]:
        async with Batcher(work, most=32, room=100, workers=2) as batcher:
            tasks = [asyncio.create_task(batcher.submit(n)) for n in range(6)]
            while len(work.calls) < 2:  # both run at the same time
                await asyncio.sleep(0.001)
            work.gate.set()
            return await asyncio.gather(*tasks)

    assert asyncio.run(scene()) == [0, 2, 4, 6, 8, 10]
    assert sorted(work.calls) == [[0, 1, 2], [3, 4, 5]]


@given(
    jobs=st.lists(st.integers(0, 20), max_size=40),
    most=st.integers(1, 9),
    workers=st.integers(1, 3),
    kinds=st.integers(1, 3),
)
def test_everyone_gets_their_own_result(jobs, most, workers, kinds):
    work = Work()
    results = asyncio.run(submit_all(work, jobs, most=most, workers=workers, alike=lambda n: n % kinds))
    for job, result in zip(jobs, results, strict=True):
        assert isinstance(result, ValueError) if job == 13 else result == 2 * job
    assert all(len(call) <= most and len({n % kinds for n in call}) == 1 for call in work.calls)
