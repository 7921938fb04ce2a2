"""The curves of a run, drawn from its log alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dualparse.errors import InputError
from dualparse.lab.plots import draw, read_log, save_plot

LOOP = ("reconstruction", "reconstruction_spread", "reward", "reward_spread", "advantage", "perplexity")


def record(stage: str, epoch: int, *, best: bool = False, **scores: float) -> dict:
    figures = {"loss": 3.0 / epoch}
    if stage == "dual":
        figures = {f"{loop}_{name}": float(epoch) for loop in ("query", "form") for name in LOOP}
        figures |= {
            "query_brevity": 1.0,
            "query_brevity_spread": 0.5,
            "query_validity": 0.2,
            "query_validity_spread": 0.1,
        }
        figures |= {"query_valid": 0.1 * epoch, "form_fluency": -2.0, "form_fluency_spread": 0.1}
        figures |= {"q2lf_loss": 1.0 / epoch, "lf2q_loss": 2.0 / epoch}
    return {"stage": stage, "epoch": epoch, "figures": figures, "scores": scores, "best": best, "seconds": 1.5}


RECORDS = [
    record("q2lf", 1),
    record("q2lf", 2, accuracy=40.0, score=40.0, best=True),
    record("q2lf", 3, accuracy=70.0, score=70.0, best=True),
    record("q2lf", 4, accuracy=60.0, score=60.0),
    record("lf2q", 1, bleu=12.0, score=12.0, best=True),
    record("query_lm", 1, perplexity=9.0, score=-2.2, best=True),
    *(record("dual", epoch, accuracy=70.0 + epoch, score=70.0 + epoch, best=epoch == 2) for epoch in (1, 2, 3)),
]


@pytest.fixture
def run(tmp_path) -> Path:
    folder = tmp_path / "trails"
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS), encoding="utf-8")
    return folder


def panels(figure) -> dict[str, object]:
    return {axes.get_title(): axes for axes in figure.get_axes() if axes.get_title()}


def labels(axes) -> list[str]:
    return axes.get_legend_handles_labels()[1]


def test_records_are_read_by_stage_in_order(run):
    stages = read_log(run)
    assert list(stages) == ["q2lf", "lf2q", "query_lm", "dual"]
    assert [r["epoch"] for r in stages["q2lf"]] == [1, 2, 3, 4]


def test_every_stage_has_its_loss_and_its_dev_score_with_the_best_epoch_marked(run):
    figure = draw(read_log(run), title="trails")
    assert figure.get_suptitle() == "trails"
    found = panels(figure)
    assert {"q2lf", "lf2q", "query LM", "game"} <= set(found)
    (line,) = found["q2lf"].get_lines()
    assert line.get_ydata().tolist() == [3.0, 1.5, 1.0, 0.75]
    scores = {axes.get_ylabel(): axes for axes in reversed(figure.get_axes()) if axes.get_ylabel()}
    accuracy, best = scores["dev accuracy, %"].get_lines()
    assert (accuracy.get_xdata().tolist(), accuracy.get_ydata().tolist()) == ([2, 3, 4], [40.0, 70.0, 60.0])
    assert (best.get_xdata().tolist(), best.get_ydata().tolist()) == ([3], [70.0])
    assert labels(scores["dev accuracy, %"]) == ["best 70, epoch 3"]
    assert {"dev BLEU", "dev perplexity"} <= set(scores)
    game = [axes for axes in figure.get_axes() if "before 70" in labels(axes)]
    assert len(game) == 1, "where the parser stood before the game"


def test_after_pseudo_labels_the_game_is_compared_with_what_they_taught():
    taught = [record("pseudo", 1, accuracy=71.0, score=71.0, best=True)]
    figure = draw({"q2lf": RECORDS[:4], "pseudo": taught, "dual": RECORDS[-3:]})
    before = [sorted(set(labels(axes)) & {"before 70", "before 71"}) for axes in figure.get_axes()]
    assert [found for found in before if found] == [["before 70"], ["before 71"]]  # of pseudo, of the game


def test_the_game_has_a_panel_for_every_reward_by_name(run):
    found = panels(draw(read_log(run)))
    assert labels(found["validity"]) == ["from queries", "share valid"]
    assert found["validity"].get_lines()[1].get_ydata().tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert labels(found["brevity"]) == ["from queries"], "one's own reward is like any other"
    assert labels(found["fluency"]) == ["from forms"]
    for title in (
        "reward (the sum)",
        "reconstruction",
        "advantage (mean absolute)",
        "reconstruction (perplexity)",
    ):
        assert labels(found[title]) == ["from queries", "from forms"]
    assert len(found["reward (the sum)"].collections) == 2, "bands of their spread"


def test_logs_from_before_rewards_had_names_are_drawn(tmp_path):
    old = {f"{loop}_{name}": 1.0 for loop in ("query", "form") for name in ("validity", "back", "reward")}
    old |= {f"{name}_spread": 0.5 for name in old} | {"query_back_perplexity": 2.0, "query_valid": 0.5}
    text = json.dumps(record("dual", 1) | {"figures": old}) + "\n"
    (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    found = panels(draw(read_log(tmp_path)))
    assert labels(found["reconstruction"]) == ["from queries", "from forms"]
    assert labels(found["fluency"]) == ["from forms"]
    assert labels(found["reconstruction (perplexity)"]) == ["from queries"]


def test_a_supervised_run_has_no_rewards():
    found = panels(draw({"q2lf": RECORDS[:4]}))
    assert set(found) == {"q2lf"}


def test_a_run_that_has_just_begun_can_be_drawn(run):
    draw({"q2lf": RECORDS[:1]}).savefig(run / "a.png")
    draw({"dual": [record("dual", 1) | {"figures": {}}]}).savefig(run / "b.png")


@pytest.mark.parametrize(("name", "begins"), [("a.png", b"\x89PNG"), ("b.svg", b"<?xml"), ("c.PDF", b"%PDF")])
def test_pictures_are_written_whole(run, tmp_path, name, begins):
    save_plot(run, tmp_path / "pictures" / name)
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == [name]
    assert (tmp_path / "pictures" / name).read_bytes().startswith(begins)


def test_a_last_line_cut_off_by_a_crash_is_left_out(run):
    with (run / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"stage": "dual", "epo')
    assert len(read_log(run)["dual"]) == 3


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"stage": "q2lf", "epoch": "one", "figures": {}, "scores": {}}', ""])
def test_a_damaged_log_is_an_error_that_names_the_line(run, line):
    text = (run / "log.jsonl").read_text(encoding="utf-8").splitlines()
    (run / "log.jsonl").write_text("\n".join([*text[:2], line, *text[2:]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="log.jsonl:3: not a record"):
        read_log(run)


def test_nothing_to_draw_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such run folder"):
        read_log(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"log\.jsonl is missing"):
        read_log(tmp_path)
    (tmp_path / "log.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="no epoch is finished yet"):
        read_log(tmp_path)
    (tmp_path / "log.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match=r"log\.jsonl:1: not a record"):
        read_log(tmp_path)


@pytest.mark.parametrize("name", ["curves.gif", "curves", "png", "curves.png.txt"])
def test_an_unknown_picture_format_is_an_error_and_writes_nothing(run, tmp_path, name):
    with pytest.raises(InputError, match="unknown picture format"):
        save_plot(run, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_drawing_needs_no_torch_and_no_screen(run):
    script = f"""
import sys
from pathlib import Path
from dualparse.lab.plots import save_plot
save_plot(Path({str(run)!r}), Path({str(run / "curves.png")!r}))
assert "torch" not in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run(
        [sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2], env={"MPLCONFIGDIR": str(run)}
    )
