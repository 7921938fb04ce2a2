"""Pieces of work side by side."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from dualparse.engines import cores as module
from dualparse.engines.cores import cores, each_on_a_core, on_one_core, use_all_cores


@pytest.fixture
def threads(monkeypatch) -> Iterator[int]:
    monkeypatch.setattr(module, "_cores", None)  # a command in this process may have asked for all
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield 3
    torch.set_num_threads(before)


def test_results_come_in_the_order_of_the_items(threads):
    assert each_on_a_core(lambda item: item * 2, list(range(20))) == list(range(0, 40, 2))
    assert each_on_a_core(lambda item: item, []) == []


def test_pieces_run_at_the_same_time_on_one_thread_each(threads):
    together = threading.Barrier(threads, timeout=30)

    def work(item: int) -> int:
        together.wait()  # passes only when all are there
        return torch.get_num_threads()

    assert each_on_a_core(work, list(range(threads))) == [1] * threads


def test_between_pieces_torch_keeps_to_one_core(threads):
    with on_one_core():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == threads
    with pytest.raises(KeyError), on_one_core():
        raise KeyError
    assert torch.get_num_threads() == threads


def test_all_cores_can_be_used_though_torch_has_one_thread(monkeypatch):
    monkeypatch.setattr(module, "_cores", None)
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert cores() == 1
        use_all_cores()
        assert cores() == 4
        together = threading.Barrier(4, timeout=30)
        each_on_a_core(lambda item: together.wait(), range(4))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_torch_has_its_threads_back_afterwards(threads):
    def fails(item: int) -> None:
        raise KeyError(item)

    with pytest.raises(KeyError):
        each_on_a_core(fails, [1, 2])
    assert torch.get_num_threads() == threads
    told: list[int] = []
    new = threading.Thread(target=lambda: told.append(torch.get_num_threads()))
    new.start()
    new.join()
    assert told == [threads], "threads to come have them, too"


def test_a_single_piece_gets_all_threads(threads):
    assert each_on_a_core(lambda item: (torch.get_num_threads(), threading.current_thread()), [1]) == [
        (threads, threading.main_thread())
    ]
