"""Word vectors from plain, gzipped and zipped files, and from files that are none."""

from __future__ import annotations

import gzip
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.data.word_vectors import read_vectors
from dualparse.errors import InputError

TEXT = "the 0.1 -0.2 3\nhut 1 2 3\ncafé -1 1e-2 .5\nhut 9 9 9\n"


def write(folder, kind):
    if kind == ".txt":
        path = folder / "vectors.txt"
        path.write_text(TEXT, encoding="utf-8")
    elif kind == ".gz":
        path = folder / "vectors.txt.gz"
        path.write_bytes(gzip.compress(TEXT.encode()))
    else:
        path = folder / "vectors.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("words.2d.txt", "the 1 2\n")
            archive.writestr("words.3d.txt", TEXT)
            archive.writestr("README", "nothing")
    return path


@pytest.mark.parametrize("kind", [".txt", ".gz", ".zip"])
def test_vectors_come_in_the_order_wanted_and_missing_words_are_told(tmp_path, kind):
    found = read_vectors(write(tmp_path, kind), ["café", "bus", "hut", "café", "tram"], dimension=3)
    assert found.words == ("café", "hut")
    assert found.missing == ("bus", "tram")
    np.testing.assert_allclose(found.vectors, [[-1, 0.01, 0.5], [1, 2, 3]])
    assert found.vectors.dtype == np.float32


def test_no_word_found_is_no_error(tmp_path):
    found = read_vectors(write(tmp_path, ".txt"), ["bus"], dimension=3)
    assert found.vectors.shape == (0, 3)
    assert found.missing == ("bus",)


@pytest.mark.parametrize("line", ["hut 1 2", "hut 1 2 3 4", "hut", "hut one 2 3", "hut 1 nan 3", "hut 1 \xff 3"])
def test_a_malformed_line_is_told_with_its_number(tmp_path, line):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"the 1 2 3\n" + line.encode("latin-1") + b"\n")
    with pytest.raises(InputError) as caught:
        read_vectors(path, ["hut"], dimension=3)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_only_the_lines_wanted_are_parsed(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("broken\nhut 1 2 3\nbroken too\n", encoding="utf-8")
    assert read_vectors(path, ["hut"], dimension=3).words == ("hut",)


@pytest.mark.parametrize("kind", [".gz", ".zip"])
@given(data=st.data())
def test_a_damaged_archive_never_gives_a_traceback(tmp_path_factory, kind, data):
    """Cut or changed anywhere: an InputError naming the file, or, where nothing needed was hit, the vectors."""
    path = write(tmp_path_factory.mktemp("glove"), kind)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        read_vectors(path, ["hut", "bus"], dimension=3)
    except InputError as error:
        assert error.path == path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz", "vectors.zip"])
def test_a_missing_file_is_an_input_error(tmp_path, name):
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / name, ["hut"], dimension=3)


def test_a_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(tmp_path, ["hut"], dimension=3)


def test_an_archive_without_this_dimension_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no text file with 50-dimensional vectors"):
        read_vectors(write(tmp_path, ".zip"), ["hut"], dimension=50)


def test_the_only_text_file_of_an_archive_is_taken_whatever_its_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        archive.writestr("mine.txt", TEXT)
    assert read_vectors(tmp_path / "mine.zip", ["hut"], dimension=3).words == ("hut",)
