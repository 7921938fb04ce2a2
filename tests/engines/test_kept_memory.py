"""Freed memory is kept where the C library can be asked to; elsewhere nothing happens."""

from __future__ import annotations

import ctypes
import platform
import sys

import pytest

from dualparse.engines.kept_memory import keep_freed_memory

try_again = keep_freed_memory.__wrapped__  # not remembering what it said before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_it_can_be_asked_here():
    assert keep_freed_memory() and keep_freed_memory()


class Library:
    """A C library whose `mallopt` refuses values above a limit, as older versions do."""

    def __init__(self, limit: int):
        self.limit, self.set = limit, {}

    def mallopt(self, name: int, value: int) -> int:
        if name == -3 and value > self.limit:
            return 0
        self.set[name] = value
        return 1


@pytest.mark.parametrize(("limit", "expected"), [(2**31 - 1, 1 << 30), (1 << 25, 1 << 25)])
def test_older_versions_get_as_much_as_they_allow(monkeypatch, limit, expected):
    library = Library(limit)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert try_again()
    assert library.set == {-3: expected, -1: 2**31 - 1}


def test_nothing_happens_elsewhere(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())  # a C library without mallopt
    monkeypatch.setattr(sys, "platform", "linux")
    assert not try_again()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", None)
    assert not try_again()
