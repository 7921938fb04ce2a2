"""Listening: an application and an address in, a running server until SIGTERM or Ctrl-C.

On SIGTERM no new connection is taken, every request under way is answered, then the process ends with code 0.
"""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from dualparse.errors import InputError

SWITCH = 0.0005  # seconds a thread may keep the interpreter: a search asks for it often, and requests must not stall it
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


def run(app: FastAPI, listener: socket.socket, *, grace: float) -> None:
    """Serve until a signal; what is under way has `grace` seconds to end."""
    sys.setswitchinterval(SWITCH)
    # The server raises the signal again once all is done; it then means a good end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    config = uvicorn.Config(
        app,
        lifespan="on",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(grace) + 1,
    )
    uvicorn.Server(config).run(sockets=[listener])
