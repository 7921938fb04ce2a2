"""Questions to an `Asker` over HTTP: outcomes, pages of rows, CSV; what operators see of it."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import fake_asker
import httpx
import pytest
import toy_run
from prometheus_client.parser import text_string_to_metric_families

from dualparse.use.api import load
from dualparse.use.service.app import make_app
from dualparse.use.service.limits import Limits
from dualparse.use.service.observing import Log
from dualparse.use.service.paging import Remembered, as_csv
from dualparse.use.service.rates import MOST_CLIENTS, Rates
from dualparse.use.service.served import connected_target, target_of


@contextmanager
def client(targets: dict[str, object], **options) -> Iterator[httpx.Client]:
    with toy_run.serving(make_app(targets, **options)) as url, httpx.Client(base_url=url, timeout=30) as http:
        yield http


@pytest.fixture
def asker() -> fake_asker.FakeAsker:
    return fake_asker.FakeAsker()


@pytest.fixture
def service(asker) -> Iterator[httpx.Client]:
    with client({"films": fake_asker.target(asker)}) as http:
        yield http


def asked(service: httpx.Client, question: str, **more) -> dict:
    answer = service.post("/ask", json={"question": question, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_answer_says_what_was_understood(service):
    told = asked(service, "which flims are there")
    assert (told["run"], told["status"], told["said"]) == ("films", "answered", "all films with their running time")
    assert told["columns"] == ["film", "running", "released", "seen"] and told["units"][1] == "minute"
    assert told["rows"][0] == ["Ferry", 80, "1900-03-01", True]
    assert (told["probability"], told["total"], told["truncated"]) == (0.93, 5, False)
    assert told["notes"] == ["read 'flims' as 'films'"]


def test_readings_to_choose_from_and_the_one_that_was_chosen(service, asker):
    told = asked(service, "which kinds are there")
    assert (told["status"], told["rows"]) == ("ambiguous", [])
    assert [choice["said"] for choice in told["choices"]] == ["all films", "all genres"]
    chosen = service.post("/run", json={"form": told["choices"][1]["form"], "question": told["question"]}).json()
    assert (chosen["status"], chosen["question"], len(chosen["rows"])) == ("answered", "which kinds are there", 3)
    assert asker.ran == ["( all genre )"]


def test_refusals_and_errors_have_a_reason(service):
    told = asked(service, "what is the capital of france")
    assert (told["status"], told["reason"]) == ("refused", "nobody here knows the word 'capital'")
    told = asked(service, "broken")
    assert (told["status"], told["reason"]) == ("error", "the database does not answer")
    answer = service.post("/ask", json={"question": "unusable"})
    assert (answer.status_code, answer.json()) == (422, {"error": "the question cannot be used"})
    assert asked(service, "which films are there")["status"] == "answered", "the next one is answered"


def test_a_thousand_rows_come_in_pages(service, asker):
    told = asked(service, "many films")
    assert (len(told["rows"]), told["total"], told["truncated"], told["offset"]) == (100, 1000, True, 0)
    seen = list(told["rows"])
    while told["truncated"]:
        wanted = {"form": told["form"], "question": told["question"], "offset": len(seen), "limit": 400}
        told = service.post("/run", json=wanted).json()
        assert told["offset"] == len(seen)
        seen += told["rows"]
    assert [row[1] for row in seen] == list(range(80, 1080))
    assert asker.ran == [], "the rows were remembered"


def test_all_rows_as_csv(service):
    told = asked(service, "many films")
    answer = service.post("/export", json={"form": told["form"], "question": told["question"]})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "answer.csv" in answer.headers["content-disposition"]
    head, *rows = csv.reader(io.StringIO(answer.text))
    assert head == ["film", "running (minute)", "released", "seen"]
    assert len(rows) == 1000
    assert rows[3][0] == "'=Dust", "a spreadsheet would run it"
    assert rows[0] == ["Ferry", "80", "1900-03-01", "yes"]
    answer = service.post("/export", json={"form": "( broken"})
    assert (answer.status_code, answer.json()) == (422, {"error": "a parenthesis is missing"})


def test_a_database_has_no_models(service):
    for path, body in (("/parse", {"question": "x"}), ("/verbalize", {"form": "( x )"}), ("/execute", {"form": "x"})):
        answer = service.post(path, json=body)
        assert answer.status_code == 422
        assert "films has no trained models: POST /ask" in answer.json()["error"]
    told = service.get("/domains").json()["runs"][0]
    assert (told["title"], told["models"], told["verbalizes"]) == ("Films of a shop", False, False)
    assert told["types"][1] == {"name": "genre", "count": 2, "examples": ["Drama", "Comedy"]}


def test_a_run_is_asked_in_the_same_way(parser):
    with client({"toy": parser}) as service:
        told = asked(service, "how deep is bleu lake")
        assert "blue" in told["notes"][0]
        assert told["status"] == parser.ask("how deep is bleu lake").status
        assert service.post("/ask", json={"question": "?!"}).status_code == 422
        chosen = service.post("/run", json={"form": "( get lake.blue depth )"}).json()
        assert (chosen["status"], len(chosen["rows"])) == ("answered", 1)
        wrong = service.post("/run", json={"form": "( all"}).json()
        assert wrong["status"] == "error" and wrong["reason"]


def test_a_run_that_is_served_takes_up_what_it_learns(tmp_path, parser):
    folder = shutil.copytree(parser.run.folder, tmp_path / "run")
    served = load(folder, domain=parser.domain)
    question, form = "azure please", "( get lake.blue depth )"
    with client({"lakes": target_of(served)}) as service:
        assert asked(service, question)["status"] != "answered"
        load(folder, domain=parser.domain).learn([(question, form)])
        told = asked(service, question)
        assert (told["status"], told["form"]) == ("answered", form)


def test_a_connected_folder_is_served(tmp_path):
    pytest.importorskip("sqlalchemy")
    from dualparse.database.connect import connect
    from dualparse.database.location import locate

    (tmp_path / "films").mkdir()
    lines = "film_id,title,running_minutes\n1,Salt,95\n2,Dust,140\n3,The Long Ferry,121\n"
    (tmp_path / "films" / "films.csv").write_text(lines)
    connect(locate(str(tmp_path / "films")), tmp_path / "shop")
    target = connected_target(tmp_path / "shop")
    with client({"shop": target}) as service:
        about = service.get("/domains").json()["runs"][0]
        assert about["questions"][0] == "how many films are there"
        assert about["types"] == [{"name": "film", "count": 0, "examples": []}]
        told = asked(service, about["questions"][0])
        assert (told["status"], told["rows"]) == ("answered", [[3]])
        told = asked(service, "films longer than 2 hours")
        assert sorted(row[0] for row in told["rows"]) == ["Dust", "The Long Ferry"] and told["said"] and told["sql"]
        assert asked(service, "flick of flicks")["status"] != "answered"
        (tmp_path / "shop" / "train.tsv").write_text("flick of flicks\t( argmax ( all film ) running_minutes )\n")
        learned = asked(service, "flick of flicks")  # while it is served
        assert (learned["status"], learned["rows"][0][0]) == ("answered", "Dust")
        assert service.post("/ask", json={"question": "  "}).status_code == 422
    target.asker.close()


def test_every_answer_has_the_id_of_its_request(service):
    assert service.get("/health", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
    for bad in ("a b", "x" * 65, "<script>"):
        given = service.get("/health", headers={"X-Request-ID": bad}).headers["x-request-id"]
        assert given != bad and len(given) == 16
    assert service.get("/nowhere").headers["x-request-id"]
    assert service.post("/ask", content=b"{").headers["x-request-id"]


def sample(service: httpx.Client, name: str, **labels: str) -> float:
    families = text_string_to_metric_families(service.get("/metrics").text)
    found = [s.value for f in families for s in f.samples if s.name == name and labels.items() <= s.labels.items()]
    return sum(found)


def test_figures_for_prometheus(service):
    for question in ("which films are there", "which kinds are there", "what is the capital", "what is the capital"):
        asked(service, question)
    service.get("/made-up/path")
    service.post("/ask", json={})
    assert sample(service, "dualparse_requests_total", path="/ask", status="200") == 4
    assert sample(service, "dualparse_requests_total", path="/ask", status="422") == 1
    assert sample(service, "dualparse_requests_total", path="other", status="404") == 1
    assert sample(service, "dualparse_request_seconds_count", path="/ask") == 5
    assert sample(service, "dualparse_replies_total", run="films", outcome="refused") == 2
    assert sample(service, "dualparse_replies_total", run="films", outcome="ambiguous") == 1
    assert sample(service, "dualparse_batch_size_count", run="films", queue="ask") == 4
    assert "capital" not in service.get("/metrics").text


def test_a_client_has_its_share():
    with client({"films": fake_asker.target()}, limits=Limits(rate=3)) as service:
        statuses = [service.post("/ask", json={"question": "films"}).status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = service.post("/ask", json={"question": "films"})
        assert 0 < int(refused.headers["retry-after"]) <= 20 and "too many requests" in refused.json()["error"]
        assert service.get("/health").status_code == 200, "to look after the service is free"
        assert sample(service, "dualparse_refusals_total", status="429") == 2


def test_a_share_comes_back_and_the_register_is_bounded():
    rates = Rates(60)
    assert [rates.wait("a", 0.0) for _ in range(60)] == [0.0] * 60
    assert rates.wait("a", 0.0) == pytest.approx(1.0)
    assert rates.wait("b", 0.0) == 0.0
    assert rates.wait("a", 1.0) == 0.0 and rates.wait("a", 1.0) > 0
    for number in range(MOST_CLIENTS + 10):
        rates.wait(str(number), 2.0)
    assert len(rates._left) == MOST_CLIENTS
    assert Rates(0).wait("a", 0.0) == 0.0


@pytest.mark.parametrize("questions", [False, True])
def test_the_log_has_questions_only_when_asked_to(questions):
    stream = io.StringIO()
    with client({"films": fake_asker.target()}, log=Log(stream, questions)) as service:
        service.post("/ask", json={"question": "which kinds"}, headers={"X-Request-ID": "one"})
        service.get("/secret-path")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["request"], line["path"], line["status"]) for line in lines[:1]] == [("one", "/ask", 200)]
    assert (lines[0]["run"], lines[0]["outcome"], lines[0].get("question")) == (
        "films",
        "ambiguous",
        "which kinds" if questions else None,
    )
    assert lines[1]["path"] == "other" and lines[0]["ms"] >= 0
    assert ("kinds" in stream.getvalue()) is questions


def test_readiness(asker):
    assert_ready = {"ready": True, "full": []}
    with client({"films": fake_asker.target(asker)}) as service:
        assert service.get("/ready").json() == assert_ready
    with client({"films": fake_asker.target()}, limits=Limits(room=0)) as service:
        answer = service.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"ready": False, "full": ["films"]})
        assert service.post("/ask", json={"question": "x"}).status_code == 503


def test_the_token_locks_questions_and_figures():
    with client({"films": fake_asker.target()}, token="sesame") as service:
        for path in ("/ask", "/run", "/export"):
            assert service.post(path, json={}).status_code == 401
        assert service.get("/metrics").status_code == 401
        assert service.get("/ready").status_code == 200


def test_what_is_remembered_is_bounded():
    replies = [fake_asker.FakeAsker().rows(str(i), 200) for i in range(6)]
    kept = Remembered(most=3, most_bytes=1_000_000)
    for reply in replies:
        kept.keep(reply)
    assert [kept.get((r.form, r.question)) is not None for r in replies] == [False] * 3 + [True] * 3
    small = Remembered(most=3, most_bytes=90_000)
    small.keep(replies[0])
    small.keep(replies[1])
    assert small.get((replies[0].form, "0")) is None and small.get((replies[1].form, "1")) is not None
    small.keep(fake_asker.FakeAsker().rows("huge", 500))
    assert not small._kept
    long = replace(replies[0], rows=(("a" * 1_000_000,), *((None,) for _ in range(200))))
    kept.keep(long)  # one cell, and more bytes than there is room for
    assert kept.get((long.form, long.question)) is None


def test_a_reply_without_rows_is_a_line_of_headings():
    reply = fake_asker.FakeAsker().rows("x", 0)
    assert as_csv(reply) == "film,running (minute),released,seen\r\n"
