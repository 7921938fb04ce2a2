"""Listening: an application and an address in, a running server until SIGTERM or Ctrl-C.

On SIGTERM no new connection is taken, every request under way is answered, then the process ends with code 0.
"""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
from collections.abc import Iterable
from dataclasses import replace

import uvicorn
from fastapi import FastAPI

from dualparse.errors import InputError
from dualparse.use.service.doors import protocol
from dualparse.use.service.limits import Limits

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SWITCH = 0.0005  # seconds a thread may keep the interpreter: a search asks for it often, and requests must not stall it
SPARE_FILES = 128  # open files that are no connections
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names_answered_to(host: str, allowed: Iterable[str]) -> frozenset[str] | None:
    """The host names a server at this address answers to; None for any.

    >>> names_answered_to("0.0.0.0", []), "a.org" in names_answered_to("0.0.0.0", ["A.org"])
    (None, True)
    """
    names = frozenset(name.lower() for name in allowed)
    return LOOPBACK_NAMES | names if names or is_loopback(host) else None


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on; port 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener


def url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def configured(app: FastAPI, limits: Limits, *, log_level: str = "warning") -> uvicorn.Config:
    """How a server for this application is set up."""
    return uvicorn.Config(
        app,
        http=protocol(limits),  # type: ignore[arg-type]
        lifespan="on",
        ws="none",
        log_level=log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(limits.seconds) + 1,
    )


def with_files_for(limits: Limits) -> Limits:
    """As many connections as this process may have files open: the soft limit is raised, and what is not granted is
    not promised."""
    if resource is None:
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.connections + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return limits
    connections = max(soft - SPARE_FILES, 8)
    return replace(limits, connections=connections, per_client=min(limits.per_client, connections))


def run(app: FastAPI, listener: socket.socket, limits: Limits) -> None:
    """Serve until a signal; what is under way has the time of a request to end."""
    sys.setswitchinterval(SWITCH)
    # The server raises the signal again once all is done; it then means a good end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(configured(app, with_files_for(limits))).run(sockets=[listener])
