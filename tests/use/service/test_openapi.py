"""Random requests made from the OpenAPI document: no server error, and every answer is as the document says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
import toy_run
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dualparse.asking.journal import Journal
from dualparse.use.service.app import make_app

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
PATHS = [
    "/ask",
    "/run",
    "/export",
    "/feedback",
    "/parse",
    "/verbalize",
    "/execute",
    "/explain",
    "/domains",
    "/health",
    "/ready",
]


@pytest.fixture(scope="module")
def document(parser, tmp_path_factory) -> Iterator[schemathesis.BaseSchema]:
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal.jsonl")
    with toy_run.serving(make_app({"toy": parser}, journals={"toy": journal})) as url:
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("path", PATHS)
def test_any_request_gets_a_documented_answer(document, path, mode):
    (operation,) = document[path].values()
    if mode is GenerationMode.NEGATIVE and not operation.body:
        return  # a request without content has no bad form

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS, timeout=60)

    check()


def test_no_endpoint_is_left_out(document):
    assert sorted(document) == sorted(PATHS)
