"""Run folders that are damaged: no missing or changed file goes unnoticed, whoever opens the folder."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import shops
import small_runs
import torch
import toy
from typer.testing import CliRunner

from dualparse import manifest
from dualparse.asking.journal import Record, open_journal
from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.index import index_of
from dualparse.database.location import locate
from dualparse.errors import InputError
from dualparse.files import holding, replacing_folder, unfinished, write_text
from dualparse.networks.tensors import load_tensors, save_tensors
from dualparse.runs import Run
from dualparse.training.run import train
from dualparse.use.api import load
from dualparse.use.cli.main import app

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("manifest")
    with toy.registered(toy.write_files(folder / "toy")):
        list(train(small_runs.recipe(), folder / "run", device=CPU))
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_every_file_that_answers_depend_on_is_listed(trained):
    listed = json.loads((trained / manifest.NAME).read_text(encoding="utf-8"))["files"]
    assert set(listed) == {path.name for path in trained.iterdir()} - {manifest.NAME}
    assert manifest.verify(trained) == len(listed)


def test_a_missing_file_is_told_by_name(run):
    for name in ("config.toml", "query.vocab", "lf2q.safetensors", "lf_lm.safetensors"):
        moved = (run / name).rename(run / "elsewhere")
        with pytest.raises(InputError, match=f"{name}: missing"):
            load(run, domain=toy.domain())
        moved.rename(run / name)
    assert load(run, domain=toy.domain()).parse("list all lakes")


def test_no_damage_goes_unnoticed(run, trained):
    """Cuts, flipped bits and zeroed pages, in every file."""
    draw = random.Random(1)
    for name in sorted(path.name for path in run.iterdir()):
        for _ in range(8):
            path, whole = run / name, (trained / name).read_bytes()
            at = draw.randrange(len(whole))
            kind = draw.choice(["cut", "flip", "zero"])
            damaged = {
                "cut": whole[:at],
                "flip": whole[:at] + bytes([whole[at] ^ (1 << draw.randrange(8))]) + whole[at + 1 :],
                "zero": whole[:at] + bytes(min(64, len(whole) - at)) + whole[at + 64 :],
            }[kind]
            if damaged != whole:
                path.write_bytes(damaged)
                with pytest.raises(InputError) as told:
                    Run.open(run)
                assert name in str(told.value) or name == manifest.NAME
            path.write_bytes(whole)


def test_tensors_tell_their_own_damage(tmp_path):
    """A checkpoint, or the weights of a folder without a manifest."""
    path, tensors = tmp_path / "x.safetensors", {"a": torch.randn(40, 5), "b": torch.tensor(3), "c": torch.zeros(0, 2)}
    save_tensors(path, tensors, {"epoch": "3"})
    found, told = load_tensors(path)
    assert told == {"epoch": "3"} and all(torch.equal(found[name], tensors[name]) for name in tensors)
    whole = path.read_bytes()
    for at in range(8, len(whole), 7):
        flip(path, at)
        with pytest.raises(InputError, match="damaged"):
            load_tensors(path)
        path.write_bytes(whole)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be killed")
def test_a_kill_leaves_no_file_that_nobody_knows(tmp_path):
    """What is left of tensors half written has a name by which `train --resume` takes it away."""
    tensors = {"a": torch.zeros(2_000_000)}
    save_tensors(tmp_path / "x.safetensors", tensors, {})
    for _ in range(12):
        pid = os.fork()
        if pid == 0:
            while True:
                save_tensors(tmp_path / "x.safetensors", tensors, {})
        time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert [path.name for path in tmp_path.iterdir() if not unfinished(path)] == ["x.safetensors"]
    assert load_tensors(tmp_path / "x.safetensors")


def test_a_run_that_goes_on_looks_at_the_weights_it_keeps(run, tmp_path):
    """No stage that is left reads them, and there is no manifest yet."""
    for name in (manifest.NAME, "lf_lm.safetensors"):
        (run / name).unlink()
    flip(run / "q2lf.safetensors", -3)
    with toy.registered(toy.write_files(tmp_path / "toy")), pytest.raises(InputError, match="q2lf.*damaged"):
        list(train(small_runs.recipe(), run, resume=True, device=CPU))
    assert not (run / "lf_lm.safetensors").exists()


def test_weights_that_are_taken_over_are_looked_at(run, tmp_path):
    (run / manifest.NAME).unlink()
    flip(run / "q2lf.safetensors", -3)
    other = small_runs.recipe(start_from=str(run))
    with toy.registered(toy.write_files(tmp_path / "toy")), pytest.raises(InputError, match="run/q2lf.*damaged"):
        list(train(other, tmp_path / "other", device=CPU))


def test_a_folder_without_a_manifest_can_be_used(run):
    (run / manifest.NAME).unlink()
    assert load(run, domain=toy.domain()).parse("list all lakes")
    result = CliRunner().invoke(app, ["verify", str(run)])
    assert result.exit_code == 0 and "older than manifests" in result.output


def test_verify_looks_at_the_index_and_the_journal_of_a_connected_folder(tmp_path):
    shop = shops.sqlite_file(tmp_path / "shop.sqlite", shops.SHOP)
    connect(locate(str(shop)), tmp_path / "shop")
    journal = open_journal(tmp_path / "shop" / "journal.jsonl")
    for question in ("one", "two", "three"):
        journal.add(Record("asked", question))

    def verified() -> tuple[int, str]:
        result = CliRunner().invoke(app, ["verify", str(tmp_path / "shop")])
        return result.exit_code, result.output.replace("\n", " ")

    index_of(read_connected(tmp_path / "shop")).connection.close()
    code, told = verified()
    assert code == 0 and "journal.jsonl: 3 records ok" in told and " names ok" in told
    whole = journal.path.read_bytes()
    for at in range(0, len(whole), 7):
        flip(journal.path, at)
        code, told = verified()
        assert code == 2 and "journal.jsonl" in told and "damaged" in told, at
        journal.path.write_bytes(whole)
    flip(tmp_path / "shop" / "values.sqlite", 3000)
    assert verified()[0] == 2 and "values.sqlite: is damaged" in verified()[1]


def test_where_both_agents_choose_no_one_is_left_out_silently(run):
    recipe = Run.open(run).recipe
    (run / manifest.NAME).unlink()
    Run(run).save_recipe(recipe.model_copy(update={"search": recipe.search.model_copy(update={"reconstruction": 1.0})}))
    (run / "lf2q.safetensors").unlink()
    with pytest.raises(InputError, match="lf2q is not trained yet"):
        load(run, domain=toy.domain())


def test_settings_that_change_do_not_hide_damage_elsewhere(run):
    recipe = Run.open(run).recipe
    Run(run).save_recipe(recipe.model_copy(update={"committee": 2}))
    assert Run.open(run).recipe.committee == 2
    flip(run / "lf.vocab", 5)
    Run(run).save_recipe(recipe)
    with pytest.raises(InputError, match=r"lf\.vocab: damaged"):
        Run.open(run)


def test_the_command_says_what_is_well_and_what_is_not(run):
    result = CliRunner().invoke(app, ["verify", str(run)])
    assert result.exit_code == 0 and f"{len(list(run.iterdir())) - 1} files ok" in result.output
    shutil.copytree(run, run / "members" / "2")
    flip(run / "members" / "2" / "lf.vocab", 5)
    result = CliRunner().invoke(app, ["verify", str(run)])
    assert result.exit_code == 2 and "lf.vocab: damaged" in result.stderr and "files ok" in result.output


def test_a_run_that_goes_on_makes_what_is_missing_and_refuses_what_is_damaged(trained, tmp_path):
    with toy.registered(toy.write_files(tmp_path / "toy")):
        run = Path(shutil.copytree(trained, tmp_path / "run"))
        (run / "lf2q.safetensors").unlink()
        list(train(small_runs.recipe(), run, resume=True, device=CPU))
        assert small_runs.left_behind(run)["lf2q.safetensors"] == small_runs.left_behind(trained)["lf2q.safetensors"]
        manifest.verify(run)
        flip(run / "q2lf.safetensors", 500)
        with pytest.raises(InputError, match=r"q2lf\.safetensors: damaged"):
            list(train(small_runs.recipe(), run, resume=True, device=CPU))


def test_a_run_under_way_has_no_manifest_and_no_second_trainer(trained, tmp_path):
    with toy.registered(toy.write_files(tmp_path / "toy")):
        run = Path(shutil.copytree(trained, tmp_path / "run"))
        first = train(small_runs.recipe(), run, resume=True, device=CPU)
        next(first)
        assert not (run / manifest.NAME).exists()
        with pytest.raises(InputError, match="another process is at work in this folder"):
            next(train(small_runs.recipe(), run, resume=True, device=CPU))
        list(first)
        list(train(small_runs.recipe(), run, resume=True, device=CPU))
    assert not [path for path in run.iterdir() if path.suffix == ".part"]


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path):
    code = (
        "import sys, pathlib, dualparse.files as files\n"
        "with files.holding(pathlib.Path(sys.argv[1])): print('in', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "in\n"
        with pytest.raises(InputError, match="another process"), holding(tmp_path):
            pass
        other.kill()
        other.wait()
    with holding(tmp_path):
        pass


def test_a_finished_run_stays_one_when_its_recipe_is_written_anew(run):
    """As `dualparse weigh --keep` does it."""
    opened = Run.open(run)
    search = opened.recipe.search.model_copy(update={"beams": 7})
    opened.save_recipe(opened.recipe.model_copy(update={"search": search}))
    assert Run.open(run).recipe.search.beams == 7
    assert manifest.verify(run) == manifest.verify(run, missing=True)


def test_a_killed_writer_of_a_recipe_leaves_a_run_that_opens(run, monkeypatch, caplog):
    class Killed(BaseException): ...

    def kill(*_: object) -> None:
        raise Killed

    opened = Run.open(run)
    recipe = opened.recipe
    monkeypatch.setattr("dualparse.runs.write_text", kill)
    with pytest.raises(Killed):
        opened.save_recipe(recipe)
    assert Run.open(run).recipe == recipe
    assert "has no manifest.json" in caplog.text


def test_what_gets_its_name_survives_a_power_cut(run, tmp_path, monkeypatch):
    """Every name is given after the bytes are on the disk and before its folder is; nobody else renames. The log grows
    line by line, and is on the disk before the manifest says what is in it."""
    told: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        told.append(("sync", os.readlink(f"/proc/self/fd/{handle}")))
        fsync(handle)

    def replaced(part: Path, path: Path) -> None:
        told.append(("name", str(path)))
        replace(part, path)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_text(tmp_path / "x", "text")
    with replacing_folder(tmp_path / "folder") as part:
        (part / "y").write_text("text")
    for place in (tmp_path / "x", tmp_path / "folder"):
        named = told.index(("name", str(place)))
        assert ("sync", str(tmp_path)) in told[named:]
        assert told[named - 1][0] == "sync" and ".part" in told[named - 1][1]
    told.clear()
    manifest.forget_manifest(run)
    assert told == [("sync", str(run))]
    manifest.write_manifest(run)
    assert told.index(("sync", str(run / "log.jsonl"))) < told.index(("name", str(run / "manifest.json")))
    package = Path(manifest.__file__).parent
    renames = re.compile(r"os\.rename|os\.replace|shutil\.move|\.rename\(|\bpart\.replace\(")
    assert [path.name for path in package.rglob("*.py") if renames.search(path.read_text())] == ["files.py"]
