"""Getting and verifying the published files, against a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dualparse.errors import InputError
from dualparse.fetch import benchmarks, glove_files
from dualparse.fetch.benchmarks import Dataset, Outcome, State, get, verify
from dualparse.fetch.download import download, has_sha256

CONTENT = b"".join(b"query %d\t( all trail )\n" % i for i in range(20_000))
SMALL = b"trail :- NP : trail\n"
VECTORS = b"".join(b"word%d %s\n" % (i, b" ".join([b"0.25"] * 100)) for i in range(30))


@dataclass
class Site:
    """What the server has and how it misbehaves."""

    url: str = ""
    contents: dict[str, bytes] = field(default_factory=dict)
    breaks: list[int] = field(default_factory=list)  # bytes to send before the connection is cut, one per request
    states: list[int] = field(default_factory=list)  # error states to answer with first
    ranges: bool = True
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # path, Range header


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            wanted = self.headers.get("Range")
            site.requests.append((self.path, wanted))
            content = site.contents.get(self.path)
            if site.states:
                return self.send_error(site.states.pop(0))
            if content is None:
                return self.send_error(404)
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and site.ranges else 0
            if start and start >= len(content):
                return self.send_error(416)
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            stop = start + site.breaks.pop(0) if site.breaks else len(content)
            self.wfile.write(content[start:stop])
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def toy(monkeypatch, site):
    """The dataset `atis`, with two files of our own behind it."""
    site.contents |= {"/atis/big.tsv": CONTENT, "/atis/small.txt": SMALL}
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in toy_files().items()}
    real = benchmarks.dataset
    made = Dataset("atis", "toy", "here", "atis", "http://nowhere.invalid", checksums)
    monkeypatch.setattr(benchmarks, "dataset", lambda name: made if name == "atis" else real(name))
    return {"atis": f"{site.url}/atis", "glove": f"{site.url}/glove.6B.zip"}


def toy_files() -> dict[str, bytes]:
    return {"big.tsv": CONTENT, "small.txt": SMALL}


def archive(*, damaged: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("glove.6B.50d.txt", "other dimensions")
        made.writestr(glove_files.TEXT, VECTORS)
    content = stream.getvalue()
    return content.replace(b"word7 ", b"wordX ") if damaged else content


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_get_fetches_verifies_and_then_keeps(tmp_path, site, toy):
    seen = []
    outcomes = get(["atis"], folder=tmp_path, addresses=toy, progress=lambda *event: seen.append(event))
    assert outcomes == {"atis/big.tsv": Outcome.FETCHED, "atis/small.txt": Outcome.FETCHED}
    assert (tmp_path / "atis/big.tsv").read_bytes() == CONTENT
    assert names(tmp_path) == ["atis/big.tsv", "atis/small.txt"]
    assert set(verify(["atis"], folder=tmp_path).values()) == {State.OK}
    done = [count for name, count, total in seen if name == "big.tsv" and total == len(CONTENT)]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, len(CONTENT))

    site.requests.clear()
    assert set(get(["atis"], folder=tmp_path, addresses=toy).values()) == {Outcome.KEPT}
    assert site.requests == []


def test_a_broken_transfer_is_taken_up_where_it_broke(tmp_path, site, toy):
    site.breaks = [100_000]
    get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert site.requests[:2] == [("/atis/big.tsv", None), ("/atis/big.tsv", "bytes=100000-")]
    assert (tmp_path / "atis/big.tsv").read_bytes() == CONTENT


def test_the_next_call_goes_on_after_a_call_that_gave_up(tmp_path, site, toy):
    site.breaks = [1000, 1000, 1000, 1000]
    with pytest.raises(InputError, match="broke off after 4000 of .* goes on from there"):
        get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert names(tmp_path) == ["atis/big.tsv.part"]
    assert verify(["atis"], folder=tmp_path)["atis/big.tsv"] is State.MISSING
    site.requests.clear()
    get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert site.requests[0] == ("/atis/big.tsv", "bytes=4000-")
    assert names(tmp_path) == ["atis/big.tsv", "atis/small.txt"]


def test_a_server_without_range_sends_all_of_it_again(tmp_path, site, toy):
    site.ranges, site.breaks = False, [5000]
    get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert site.requests == [("/atis/big.tsv", None), ("/atis/big.tsv", "bytes=5000-"), ("/atis/small.txt", None)]
    assert (tmp_path / "atis/big.tsv").read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing_behind(tmp_path, site, toy):
    site.contents["/atis/big.tsv"] = CONTENT.replace(b"query 7\t", b"query 8\t")
    with pytest.raises(InputError, match="wrong checksum.*nothing was kept"):
        get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert names(tmp_path) == []
    assert len(site.requests) == 1


@pytest.mark.parametrize("old", [b"something else", CONTENT + b"too long", CONTENT])
def test_an_old_piece_that_does_not_fit_is_thrown_away(tmp_path, site, old):
    target = tmp_path / "big.tsv"
    (tmp_path / "big.tsv.part").write_bytes(old)
    site.contents["/big.tsv"] = CONTENT
    check = has_sha256(hashlib.sha256(CONTENT).hexdigest())
    download(f"{site.url}/big.tsv", target, check=check, pause=0)
    assert target.read_bytes() == CONTENT
    assert names(tmp_path) == ["big.tsv"]
    assert (site.requests == []) == (old == CONTENT)


def test_a_damaged_file_is_replaced_only_by_a_right_one(tmp_path, site, toy):
    place = tmp_path / "atis"
    place.mkdir()
    (place / "big.tsv").write_bytes(b"damaged")
    assert verify(["atis"], folder=tmp_path) == {"atis/big.tsv": State.WRONG, "atis/small.txt": State.MISSING}
    site.breaks = [10, 10, 10, 10]
    with pytest.raises(InputError, match="broke off"):
        get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert (place / "big.tsv").read_bytes() == b"damaged"
    get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert (place / "big.tsv").read_bytes() == CONTENT


def test_a_missing_page_is_an_error_at_once(tmp_path, site, toy):
    del site.contents["/atis/big.tsv"]
    with pytest.raises(InputError, match="/atis/big.tsv: the server answers 404"):
        get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert len(site.requests) == 1
    assert names(tmp_path) == []


def test_a_busy_server_is_asked_again(tmp_path, site, toy):
    site.states = [503, 429]
    get(["atis"], folder=tmp_path, addresses=toy, pause=0)
    assert names(tmp_path) == ["atis/big.tsv", "atis/small.txt"]


def test_no_server_is_an_input_error(tmp_path, toy):
    with pytest.raises(InputError, match="no connection"):
        get(["atis"], folder=tmp_path, addresses={"atis": "http://127.0.0.1:1"}, pause=0)
    assert names(tmp_path) == []


@pytest.mark.parametrize("layout", ["atis", "data/atis", "."])
def test_a_local_copy_is_taken_in_any_of_its_layouts(tmp_path, toy, site, layout):
    copy, folder = tmp_path / "copy", tmp_path / "here"
    (copy / layout).mkdir(parents=True)
    for name, content in toy_files().items():
        (copy / layout / name).write_bytes(content)
    assert set(get(["atis"], folder=folder, source=copy).values()) == {Outcome.COPIED}
    assert (folder / "atis/big.tsv").read_bytes() == CONTENT
    assert names(folder) == ["atis/big.tsv", "atis/small.txt"]
    assert site.requests == []


def test_a_wrong_or_incomplete_local_copy_is_refused(tmp_path, toy):
    copy, folder = tmp_path / "copy", tmp_path / "here"
    with pytest.raises(InputError, match="no such folder"):
        get(["atis"], folder=folder, source=copy)
    copy.mkdir()
    with pytest.raises(InputError, match="no big.tsv in this folder"):
        get(["atis"], folder=folder, source=copy)
    (copy / "big.tsv").write_bytes(b"other")
    with pytest.raises(InputError, match="copy/big.tsv: wrong checksum"):
        get(["atis"], folder=folder, source=copy)
    assert names(folder) == []


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path, toy):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        get(["atis"], folder=tmp_path / "file" / "below", addresses=toy)


def test_glove_is_taken_out_of_its_archive(tmp_path, site, toy):
    site.contents["/glove.6B.zip"] = archive()
    assert get(["glove"], folder=tmp_path, addresses=toy) == {"glove/glove.6B.100d.txt": Outcome.FETCHED}
    assert (tmp_path / "glove/glove.6B.100d.txt").read_bytes() == VECTORS
    assert names(tmp_path) == ["glove/glove.6B.100d.txt", "glove/glove.6B.100d.txt.sha256"]
    assert verify(["glove"], folder=tmp_path) == {"glove/glove.6B.100d.txt": State.OK}
    assert get(["glove"], folder=tmp_path, addresses=toy) == {"glove/glove.6B.100d.txt": Outcome.KEPT}
    (tmp_path / "glove/glove.6B.100d.txt").write_bytes(VECTORS.replace(b"word1 ", b"word0 "))
    assert verify(["glove"], folder=tmp_path) == {"glove/glove.6B.100d.txt": State.WRONG}


def bad_archive(kind: str) -> bytes:
    """Archives that are whole, and not what was asked for."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA if kind == "odd" else zipfile.ZIP_DEFLATED) as made:
        made.writestr(glove_files.TEXT, VECTORS)
        if kind == "twice":
            with pytest.warns(UserWarning):
                made.writestr(glove_files.TEXT, VECTORS)
    content = bytearray(stream.getvalue())
    if kind == "encrypted":
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


@pytest.mark.parametrize("kind", ["odd", "twice", "encrypted", "bomb"])
def test_an_archive_that_is_not_as_the_published_one_leaves_nothing_behind(tmp_path, site, toy, monkeypatch, kind):
    if kind == "bomb":
        monkeypatch.setattr(glove_files, "MOST_BYTES", 1000)
    site.contents["/glove.6B.zip"] = bad_archive(kind)
    with pytest.raises(InputError, match="archive|more than"):
        get(["glove"], folder=tmp_path, addresses=toy, pause=0)
    assert names(tmp_path) == []


def test_the_published_archive_has_a_pinned_checksum(tmp_path, site, monkeypatch):
    site.contents["/glove.6B.zip"] = archive()
    monkeypatch.setattr(glove_files, "URL", f"{site.url}/glove.6B.zip")
    with pytest.raises(InputError, match="wrong checksum: expected 617afb2fe6cb"):
        get(["glove"], folder=tmp_path, addresses={"glove": f"{site.url}/glove.6B.zip"}, pause=0)
    assert names(tmp_path) == []


@pytest.mark.parametrize("content", [b"no archive at all", archive(damaged=True)])
def test_a_damaged_archive_leaves_nothing_behind(tmp_path, site, toy, content):
    site.contents["/glove.6B.zip"] = content
    with pytest.raises(InputError, match="damaged archive"):
        get(["glove"], folder=tmp_path, addresses=toy, pause=0)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "content", "arrives"),
    [
        (glove_files.TEXT, VECTORS, glove_files.TEXT),
        (glove_files.SUBSET, gzip.compress(VECTORS), glove_files.SUBSET),
        (glove_files.ARCHIVE, archive(), glove_files.TEXT),
    ],
)
def test_glove_is_taken_from_a_local_copy_in_any_form(tmp_path, name, content, arrives):
    copy, folder = tmp_path / "copy", tmp_path / "here"
    copy.mkdir()
    (copy / name).write_bytes(content)
    assert get(["glove"], folder=folder, source=copy) == {f"glove/{arrives}": Outcome.COPIED}
    assert verify(["glove"], folder=folder) == {f"glove/{arrives}": State.OK}
    assert names(copy) == [name]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (glove_files.TEXT, VECTORS[:-200]),
        (glove_files.TEXT, b"too few 0.1\n"),
        (glove_files.SUBSET, gzip.compress(VECTORS)[:-9]),
        (glove_files.SUBSET, b"plain"),
        (glove_files.ARCHIVE, archive(damaged=True)),
        (glove_files.ARCHIVE, archive()[:-30]),
    ],
)
def test_damaged_word_vectors_are_seen(tmp_path, name, content):
    copy, folder = tmp_path / "glove", tmp_path / "here"
    copy.mkdir()
    (copy / name).write_bytes(content)
    assert verify(["glove"], folder=tmp_path) == {f"glove/{name}": State.WRONG}
    with pytest.raises(InputError, match=name):
        get(["glove"], folder=folder, source=tmp_path)
    assert names(folder) == []


def test_the_data_folder_is_the_users_choice(tmp_path, monkeypatch):
    monkeypatch.setenv("DUALPARSE_DATA", str(tmp_path))
    assert benchmarks.data_dir() == tmp_path
    monkeypatch.setenv("DUALPARSE_DATA", "~/somewhere")
    assert benchmarks.data_dir() == Path.home() / "somewhere"
    monkeypatch.delenv("DUALPARSE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "dualparse" in benchmarks.data_dir().parts


@pytest.mark.parametrize("name", benchmarks.NAMES)
def test_without_the_files_the_error_has_the_line_that_gets_them(tmp_path, monkeypatch, name):
    monkeypatch.setenv("DUALPARSE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=f"dualparse data get {name}$"):
        benchmarks.require(name)
    assert benchmarks.glove_path() is None
    assert set(verify().values()) == {State.MISSING}


def test_an_unknown_dataset_names_the_nearest():
    with pytest.raises(InputError, match="unknown dataset 'overnite', did you mean 'overnight'"):
        benchmarks.dataset("overnite")


def test_the_shipped_checksums_cover_every_dataset():
    sizes = {name: len(benchmarks.dataset(name).checksums) for name in benchmarks.NAMES}
    assert sizes == {"atis": 6, "overnight": 32, "grammars": 9, "glove": 0}


def test_the_published_files_are_right(benchmark_data):
    assert set(verify(["atis", "overnight", "grammars"], folder=benchmark_data).values()) == {State.OK}
