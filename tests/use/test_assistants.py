"""The tools of `dualparse mcp`, called by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import fake_asker
import pytest
import toy_run

from dualparse.use.service.served import Target, connected_target, target_of

mcp = pytest.importorskip("mcp", reason="needs the extra `mcp`")
ROOT = Path(__file__).parents[2]


def call(server: object, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What a client gets for calls of tools."""

    async def ask() -> list[Any]:
        async with mcp.Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(ask())


def tools(target: Target, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    from dualparse.use.assistants.server import make_server

    return call(make_server(target), *calls)


def test_there_are_three_tools_that_change_nothing():
    from dualparse.use.assistants.server import make_server

    async def listed() -> list[Any]:
        async with mcp.Client(make_server(fake_asker.target())) as client:
            return (await client.list_tools()).tools

    found = asyncio.run(listed())
    assert [each.name for each in found] == ["ask", "explain", "schema"]
    assert all(each.annotations.read_only_hint and each.description for each in found)
    assert found[0].input_schema["required"] == ["question"]


def test_a_question_is_answered_asked_back_or_refused():
    kinds = [("ask", {"question": text}) for text in ("which films are there", "which kinds", "the capital of france")]
    answered, ambiguous, refused = (each.structured_content for each in tools(fake_asker.target(), *kinds))
    assert (answered["status"], answered["said"]) == ("answered", "all films with their running time")
    assert (len(answered["rows"]), answered["total"], answered["truncated"]) == (5, 5, False)
    assert [each["said"] for each in ambiguous["choices"]] == ["all films", "all genres"]
    assert (refused["status"], refused["reason"]) == ("refused", "nobody here knows the word 'capital'")


def test_rows_are_bounded():
    many, few = tools(
        fake_asker.target(), ("ask", {"question": "many films"}), ("ask", {"question": "many films", "limit": 3})
    )
    assert (len(many.structured_content["rows"]), many.structured_content["total"]) == (50, 1000)
    assert len(few.structured_content["rows"]) == 3 and few.structured_content["truncated"]
    (refused,) = tools(fake_asker.target(), ("ask", {"question": "films", "limit": 100_000}))
    assert refused.is_error


def test_what_cannot_be_used_is_an_error_of_the_call():
    first, second = tools(
        fake_asker.target(), ("ask", {"question": "unusable"}), ("ask", {"question": "which films are there"})
    )
    assert first.is_error and "the question cannot be used" in first.content[0].text
    assert not second.is_error


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    return toy_run.make_run(tmp_path_factory.mktemp("mcp"))


def test_a_reading_of_a_run_is_explained(run_folder):
    target = target_of(toy_run.open_parser(run_folder))
    good, bad = tools(target, ("explain", {"form": "( get lake.blue depth )"}), ("explain", {"form": "( get"}))
    assert (good.structured_content["status"], good.structured_content["total"]) == ("answered", 1)
    assert good.structured_content["said"] == "get blue depth"
    assert (bad.structured_content["status"], bad.is_error) == ("error", False)
    assert "parenthesis" in bad.structured_content["reason"]


def test_the_schema_of_a_database(tmp_path):
    pytest.importorskip("sqlalchemy")
    from dualparse.database.connect import connect
    from dualparse.database.location import locate

    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "films.csv").write_text("film_id,title,running_minutes\n1,Salt,95\n2,Dust,140\n")
    connect(locate(str(tmp_path / "films")), tmp_path / "shop")
    target = connected_target(tmp_path / "shop")
    schema, asked = tools(target, ("schema", {}), ("ask", {"question": "films longer than 2 hours"}))
    target.asker.close()
    (film,) = schema.structured_content["types"]
    assert {"name": "running_minutes", "kind": "number", "unit": "minute"} in film["properties"]
    assert schema.structured_content["questions"][0] == "how many films are there"
    assert [row[0] for row in asked.structured_content["rows"]] == ["Dust"] and asked.structured_content["sql"]


def test_the_command_speaks_over_standard_input_and_output(run_folder):
    script = ROOT / "tests" / "use" / "service" / "slow_server.py"  # `dualparse`, with the toy domain
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    server = mcp.StdioServerParameters(
        command=sys.executable, args=[str(script), "mcp", str(run_folder)], env=os.environ | {"PYTHONPATH": paths}
    )
    (told,) = call(server, ("explain", {"form": "( all lake )"}))
    assert told.structured_content["total"] == 1


def test_the_settings_in_the_documentation():
    text = (ROOT / "docs" / "assistants.md").read_text(encoding="utf-8")
    (settings,) = re.findall(r"```json\n(.*?)```", text, flags=re.DOTALL)
    (server,) = json.loads(settings)["mcpServers"].values()
    assert server["command"].endswith("dualparse") and server["args"][0] == "mcp"
    assert re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE) == ["ask", "explain", "schema"]
