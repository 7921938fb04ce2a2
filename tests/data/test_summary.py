"""A domain at a glance."""

from __future__ import annotations

from dualparse.data.summary import PropertyRow, summarize
from dualparse.data.template import TEMPLATE
from dualparse.domains.folder import load
from dualparse.domains.registry import open_domain


def test_the_summary_of_a_folder():
    summary = summarize(load(TEMPLATE), examples=5)
    assert {row.name: len(row.entities) for row in summary.types} == {"book": 12, "author": 5, "genre": 4, "country": 4}
    assert PropertyRow("book", "pages", "number page", 12) in summary.properties
    assert PropertyRow("book", "author", "author", 14) in summary.properties
    assert PropertyRow("author", "born", "date", 5) in summary.properties
    assert PropertyRow("book", "available", "boolean", 8) in summary.properties
    assert summary.sizes == {"train": 48, "dev": 6, "test": 6, "queries": 10}
    assert summary.forms == 58
    assert len(summary.examples) == 5


def test_the_examples_begin_with_the_domains_own_questions_and_then_vary():
    domain = load(TEMPLATE)
    examples = summarize(domain, examples=20).examples
    assert tuple(shown.question for shown in examples[:3]) == domain.questions
    assert examples[1].denotation == "(list (name book.a_map_of_rain))"
    assert len({shown.question for shown in examples}) == len(examples)
    assert any("( avg" in shown.lf for shown in examples)
    assert any("( or" in shown.lf for shown in examples)


def test_benchmark_domains_have_a_summary(benchmark_data):
    blocks = summarize(open_domain("blocks"))
    assert PropertyRow("en.block", "length", "number en.inch", 60) in blocks.properties
    assert {row.name for row in blocks.types} >= {"en.block", "en.shape", "en.color"}
    assert len(blocks.examples) == 8
    atis = summarize(open_domain("atis"))
    assert {"flight", "ci", "al"} <= {row.name for row in atis.types}
    assert any(row.name == "departure_time" and row.owner == "flight" for row in atis.properties)
    assert {shown.denotation for shown in atis.examples} == {""}
