"""What dualparse is made of: each package with a licence, each pinned file with a checksum."""

from __future__ import annotations

import doctest
import functools
import hashlib
import http.server
import json
import re
import threading
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from deploy import supply

ROOT = Path(__file__).parents[1]


@pytest.fixture
def index(tmp_path):
    """A package index with two packages."""
    pages = {
        "one-two": """
            <a href="../../x/one_two-1.0.tar.gz#sha256={a}">x</a> <a href="one_two-1.0-py3-none-any.whl#sha256={b}"></a>
            <a href="one_two-0.9.tar.gz#sha256={c}"></a> <a data-yanked="" href="one_two-1.0.tar.gz#sha256={c}"></a>
            <a href="one_two-1.0-cp39-cp39-win_amd64.whl#sha256={c}"></a> <a href="one_two-1.0.zip#md5=1"></a>""",
        "three": '<a href="three-2.tar.gz">no checksum</a>',
    }
    for name, text in pages.items():
        (tmp_path / name).mkdir()
        digests = {letter: letter * 64 for letter in "abc"}
        (tmp_path / name / "index.html").write_text(text.format(**digests))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_constraint_has_the_checksums_of_its_files(index):
    told = supply.hashed("One_Two==1.0\nthree==2\n", ["one-two"], index)
    assert told == f"One_Two==1.0 \\\n    --hash=sha256:{'a' * 64} \\\n    --hash=sha256:{'b' * 64}\n"
    with pytest.raises(SystemExit, match="three==2: the index has no file of it"):
        supply.hashed("three==2", ["three"], index)


def test_examples_hold():
    assert doctest.testmod(supply).failed == 0


def test_all_that_runs_is_pinned_with_checksums():
    plain = set((ROOT / "constraints.txt").read_text().split())
    text = (ROOT / "constraints-hashed.txt").read_text()
    pinned = re.findall(r"^(\S+==\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n", text, re.MULTILINE)
    assert {name for name, _ in pinned} <= plain, "make hashes brings constraints-hashed.txt up to date"
    assert text == "".join(f"{name}{hashes}\n" for name, hashes in pinned)
    names = {canonicalize_name(name.partition("==")[0]) for name, _ in pinned}
    assert set(supply.needed()) - names == set()


def test_the_bill_names_every_package_its_licence_and_the_weights(tmp_path, monkeypatch):
    out = tmp_path / "sbom.json"
    monkeypatch.setattr("sys.argv", ["supply", "sbom", "--out", str(out)])
    assert supply.main() == 0
    told = json.loads(out.read_text())
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    libraries = {each["name"]: each for each in told["components"] if each["type"] == "library"}
    assert {"torch", "fastapi", "safetensors"} <= set(libraries) and set(libraries) == set(supply.needed())
    assert all(each["licenses"][0] and "not told" not in str(each["licenses"]) for each in libraries.values())
    refs = {each["bom-ref"] for each in told["components"]} | {told["metadata"]["component"]["bom-ref"]}
    assert all({each["ref"], *each["dependsOn"]} <= refs for each in told["dependencies"])
    [adapter] = [each for each in told["components"] if each["name"].startswith("adapter")]
    shipped = (ROOT / "dualparse" / "matching" / "shipped" / "minilm.safetensors").read_bytes()
    assert adapter["hashes"][0]["content"] == hashlib.sha256(shipped).hexdigest()
