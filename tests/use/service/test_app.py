"""The endpoints: what they give, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import toy
import toy_run

from dualparse.errors import InputError
from dualparse.use.api import Parser
from dualparse.use.service.app import NO_ROOM_SECONDS, WEB, make_app
from dualparse.use.service.limits import MAX_BODY, MAX_FORM, MAX_K, MAX_QUESTION, Limits
from dualparse.use.service.models import make_ready


class Changed(Parser):
    """A parser whose search can be slowed down, broken and counted."""

    def __init__(self, parser: Parser):
        super().__init__(parser.run, parser.domain, parser.device)
        self.batches: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None

    def parse_readings(self, readings, *, k=5):
        self.batches.append(len(readings))
        assert self.gate.wait(30)
        if self.error:
            raise self.error
        return super().parse_readings(readings, k=k)


@pytest.fixture
def changed(parser) -> Changed:
    return Changed(parser)


@contextmanager
def client(*parsers: Parser, **options) -> Iterator[httpx.Client]:
    """A real server for these parsers, and a client for it."""
    named = {f"toy{i or ''}": parser for i, parser in enumerate(parsers)}
    with toy_run.serving(make_app(named, **options)) as url, httpx.Client(base_url=url, timeout=60) as http:
        yield http


@pytest.fixture(scope="module")
def service(parser) -> Iterator[httpx.Client]:
    with client(parser) as opened:
        yield opened


def refused(response: httpx.Response, status: int, *words: str) -> None:
    """An error is one JSON field, with the headers every answer has."""
    assert response.status_code == status, response.text
    assert list(response.json()) == ["error"]
    for word in words:
        assert word in response.json()["error"]
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_question_is_read(service, parser):
    answer = service.post("/parse", json={"question": "How deep is blue lake?", "k": 3})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["run"], told["question"]) == ("toy", "How deep is blue lake?")
    wanted = parser.parse("how deep is blue lake", k=3)
    assert [found["form"] for found in told["parses"]] == [parse.form for parse in wanted]
    best = told["parses"][0]
    assert best["form"] == "( get lake.blue depth )"
    assert best["verdict"] == {"ok": True, "surface": True, "semantics": True, "reason": ""}
    assert best["answer"] == toy.execute(best["form"])
    assert best["score"] == pytest.approx(wanted[0].score, abs=1e-4)
    assert {"token": 2, "words": [3, 4]} in best["copies"]
    invalid = [found for found in told["parses"] if not found["verdict"]["ok"]]
    assert all(found["answer"] is None and found["verdict"]["reason"] for found in invalid)


def test_notes_say_what_was_guessed(service):
    found = service.post("/parse", json={"question": "how deep is the bleu lake", "k": 1}).json()["parses"][0]
    assert "blue" in " ".join(found["notes"])


def test_a_form_is_said_in_words(service):
    told = service.post("/verbalize", json={"form": "(all lake)", "k": 2}).json()
    assert (told["run"], told["form"]) == ("toy", "(all lake)")
    assert told["wordings"][0]["query"] == "list all lakes"
    assert len(told["wordings"]) == 2


def test_a_form_is_executed(service):
    told = service.post("/execute", json={"form": "( count ( all lake ) )"}).json()
    assert told["answer"] == toy.execute("( count ( all lake ) )")
    assert told["verdict"]["ok"]
    told = service.post("/execute", json={"form": "( count )"}).json()
    assert told["answer"] is None
    assert told["verdict"] == {
        "ok": False,
        "surface": True,
        "semantics": False,
        "reason": "wrong number of arguments for count",
    }
    told = service.post("/execute", json={"form": "( count ("}).json()
    assert not told["verdict"]["surface"]


def test_a_reading_is_explained(service, parser):
    told = service.post("/explain", json={"question": "how deep is blue lake"}).json()
    wanted = parser.explain("how deep is blue lake")
    assert told["words"] == list(wanted.words) == told["said"]
    assert told["tokens"] == ["(", "get", "lake.blue", "depth", ")"]
    assert [sum(row) for row in told["attention"]] == pytest.approx([1.0] * 5, abs=1e-3)
    assert told["copies"] == [{"token": copy.token, "words": list(copy.words)} for copy in wanted.copies]
    other = service.post("/explain", json={"question": "how deep is blue lake", "form": "( all lake )"}).json()
    assert other["tokens"] == ["(", "all", "lake", ")"]


def test_what_is_served(service):
    run = service.get("/domains").json()["runs"][0]
    assert (run["name"], run["domain"], run["title"]) == ("toy", "toy", "Lakes and towns")
    assert run["questions"] == list(toy_run.QUESTIONS)
    assert run["types"] == [
        {"name": "lake", "count": 2, "examples": ["lake.blue", "lake.long"]},
        {"name": "town", "count": 3, "examples": ["town.arn", "town.berg", "town.cham"]},
    ]
    assert run["executes"] and run["verbalizes"]
    health = service.get("/health").json()
    assert (health["status"], health["runs"], health["waiting"]) == ("ok", ["toy"], 0)


def test_several_runs(parser):
    with client(parser, parser) as service:
        assert service.post("/parse", json={"question": "list all lakes"}).json()["run"] == "toy"
        assert service.post("/parse", json={"question": "list all lakes", "run": "toy1"}).json()["run"] == "toy1"
        refused(service.post("/parse", json={"question": "list all lakes", "run": "x"}), 404, "no such run", "toy1")


def test_a_run_without_lf2q(tmp_path):
    parser = toy_run.open_parser(toy_run.make_run(tmp_path, stages=["q2lf"], train={"epochs": 1, "evaluate_from": 1}))
    make_ready(parser)
    with client(parser) as service:
        assert not service.get("/domains").json()["runs"][0]["verbalizes"]
        refused(service.post("/verbalize", json={"form": "( all lake )"}), 422, "no lf2q model")


def gather(app, *requests: tuple[str, dict]) -> list[httpx.Response]:
    """Many requests at the same time."""

    async def ask_all() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://x") as http,
        ):
            return await asyncio.gather(*(http.post(path, json=body, timeout=60) for path, body in requests))

    return asyncio.run(ask_all())


def test_requests_at_the_same_time_are_searched_together(changed, parser):
    questions = [example.query for example in toy.examples()[:12]]
    requests = [("/parse", {"question": " ".join(words), "k": 2}) for words in questions]
    answers = gather(make_app({"toy": changed}), *requests)
    for words, answer in zip(questions, answers, strict=True):
        forms = [found["form"] for found in answer.json()["parses"]]
        assert forms == [found.form for found in parser.parse(" ".join(words), k=2)]
    assert sum(changed.batches) == 12
    assert max(changed.batches) > 6


def test_neighbours_do_not_change_an_answer(changed, parser):
    """A wider search finds other forms; those who ask for fewer must not notice that somebody asked for many."""
    few, many = ("/parse", {"question": "list all lakes", "k": 1}), ("/parse", {"question": "list all lakes", "k": 20})
    answers = gather(make_app({"toy": changed}), few, many, few)
    assert [len(answer.json()["parses"]) for answer in answers] == [1, 20, 1]
    assert sorted(changed.batches) == [1, 2]


def test_one_bad_question_harms_no_other(changed):
    good, bad = ("/parse", {"question": "list all lakes"}), ("/parse", {"question": "?!"})
    answers = gather(make_app({"toy": changed}), good, bad, good, bad)
    assert [answer.status_code for answer in answers] == [200, 422, 200, 422]
    assert changed.batches == [2]


@pytest.mark.parametrize(
    ("path", "body", "word"),
    [
        ("/parse", {}, "question"),
        ("/parse", {"question": ""}, "question"),
        ("/parse", {"question": "  \n"}, "empty"),
        ("/parse", {"question": "x" * (MAX_QUESTION + 1)}, "question"),
        ("/parse", {"question": "lake " * 201}, "200 are the most"),
        ("/parse", {"question": "list all lakes", "k": 0}, "k"),
        ("/parse", {"question": "list all lakes", "k": MAX_K + 1}, "k"),
        ("/parse", {"question": "list all lakes", "k": True}, "k: Input should be a valid integer"),
        ("/parse", {"question": "list all lakes", "k": "3"}, "k: Input should be a valid integer"),
        ("/verbalize", {"form": "( all lake )", "k": True}, "k: Input should be a valid integer"),
        ("/parse", {"question": "list all lakes", "beams": 5}, "beams"),
        ("/parse", {"question": 5}, "question"),
        ("/verbalize", {"form": "( all lake"}, "not a logical form"),
        ("/verbalize", {"form": "x" * (MAX_FORM + 1)}, "form"),
        ("/execute", {"form": ""}, "form"),
        ("/explain", {"question": "?"}, "no words"),
        ("/explain", {"question": "list all lakes", "form": "x" * (MAX_FORM + 1)}, "form"),
    ],
)
def test_what_cannot_be_used_is_refused(service, path, body, word):
    refused(service.post(path, json=body), 422, word)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"question": "\\ud800"}',
        b'{"question": "x", "\\udfff": 1}',
        b'{"question": "\xff"}',
        b"[" * 60_000,
    ],
)
def test_what_is_no_request_is_refused(service, content):
    refused(service.post("/parse", content=content, headers={"Content-Type": "application/json"}), 422)


def test_form_fields_are_no_json(service):
    refused(service.post("/parse", data={"question": "list all lakes"}), 422)


def test_other_addresses_and_methods(service):
    refused(service.get("/nothing"), 404)
    refused(service.get("/web/../app.py"), 404)
    refused(service.get("/web/%2e%2e/service/app.py"), 404)
    refused(service.get("/parse"), 405)


def test_large_bodies(service):
    body = json.dumps({"question": "x" * MAX_BODY})
    refused(service.post("/parse", content=body), 413, str(MAX_BODY))
    parts = (body[start : start + 1000].encode() for start in range(0, len(body), 1000))  # sent without a length
    refused(service.post("/parse", content=parts), 413)


def test_a_body_that_does_not_come(parser):
    with client(parser, limits=Limits(seconds=0.2)) as service, socket.create_connection(address(service)) as line:
        line.sendall(b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{")
        answer = line.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"0.2 seconds" in answer


def address(service: httpx.Client) -> tuple[str, int]:
    return service.base_url.host, service.base_url.port or 0


def test_a_slow_search_is_too_late(changed):
    with client(changed, limits=Limits(seconds=0.1)) as service:
        changed.gate.clear()
        answer = service.post("/parse", json={"question": "list all lakes"})
        changed.gate.set()  # only now the search ends
        refused(answer, 504, "0.1 seconds")


def test_too_many_wait(changed):
    changed.gate.clear()
    threading.Timer(0.3, changed.gate.set).start()
    app = make_app({"toy": changed}, limits=Limits(batch=1, room=2))
    began = time.monotonic()
    answers = gather(app, *[("/parse", {"question": "list all lakes"})] * 6)
    assert time.monotonic() - began >= NO_ROOM_SECONDS  # who asks again as soon as it is refused asks seldom
    refused_ones = [answer for answer in answers if answer.status_code != 200]
    assert refused_ones and len(refused_ones) < 6
    for answer in refused_ones:
        refused(answer, 503, "try again")
        assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("error", [ValueError("/home/secret"), InputError("bad", path=Path("/home/secret"), line=3)])
def test_errors_say_nothing_about_the_machine(changed, error):
    changed.error = error
    with client(changed) as service:
        answer = service.post("/parse", json={"question": "list all lakes"})
    refused(answer, 500 if isinstance(error, ValueError) else 422)
    assert "secret" not in answer.text and "Traceback" not in answer.text


def test_a_token(parser):
    with client(parser, token="open sesame") as service:
        for value in (None, "", "open sesame", "Bearer", "Bearer wrong", "Basic open sesame", "Bearer öpen"):
            headers = {} if value is None else {"Authorization": value.encode("utf-8")}
            answer = service.post("/parse", json={"question": "list all lakes"}, headers=headers)
            refused(answer, 401, "token")
            assert answer.headers["www-authenticate"] == "Bearer"
        headers = {"Authorization": "Bearer open sesame"}
        assert service.post("/parse", json={"question": "list all lakes"}, headers=headers).status_code == 200
        assert service.get("/domains", headers=headers).status_code == 200
        refused(service.get("/domains"), 401)
        for path in ("/", "/health", "/docs", "/openapi.json", "/web/app.js"):  # nothing of the runs
            assert service.get(path).status_code == 200
        schemes = service.get("/openapi.json").json()["components"]["securitySchemes"]
        assert [scheme["scheme"] for scheme in schemes.values()] == ["bearer"]


def test_a_large_body_without_the_token_is_not_read(parser):
    with client(parser, token="x") as service:
        refused(service.post("/parse", content=b"x" * 2 * MAX_BODY), 401)


def test_foreign_host_names(parser):
    with client(parser, hosts={"localhost", "::1"}) as service:
        for host in ("localhost", "localhost:8000", "LOCALHOST", "[::1]:8000", "[::1]"):
            assert service.get("/health", headers={"Host": host}).status_code == 200
        for host in ("example.org", "example.org:8000", "localhost.example.org", "["):
            refused(service.get("/health", headers={"Host": host}), 421)


def test_the_pages(service):
    for path in ("/", "/docs"):
        answer = service.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy and "*" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "javascript" in service.get("/web/app.js").headers["content-type"]


def web_files() -> list[Path]:
    return sorted(path for path in WEB.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", web_files(), ids=lambda path: path.name)
def test_the_page_needs_nothing_from_elsewhere(path):
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//[a-z]+\.[a-z]+/", text)


@pytest.mark.parametrize("path", [p for p in web_files() if p.suffix in (".html", ".js")], ids=lambda path: path.name)
def test_the_page_has_no_inline_code_and_inserts_text_only(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=\"|javascript:", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
