"""The picture of the web page in the documentation: a run in, docs/images/page.png out.

    python docs/screenshot.py RUN [--question "..."] [--out docs/images/page.png] [--dark] [--width 1200]

Needs a Chromium (`make browser`) and the `dev` packages.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import sync_playwright

from dualparse.files import replacing

QUESTION = "which trails start in orsaz and allow dogs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@contextmanager
def serving(run: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "dualparse.use.cli.main", "serve", str(run), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if " at http://" not in line:
                raise SystemExit("the server did not start")
            yield line.split(" at ")[1].split()[0]
        finally:
            process.terminate()


def photograph(url: str, question: str, *, dark: bool, width: int) -> bytes:
    """The page after a question, what is behind the answer open, the pointer on a token that was copied."""
    path = os.environ.get("DUALPARSE_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light", device_scale_factor=1.5
        )
        page.goto(f"{url}/#q={quote_plus(question)}")
        page.locator("#inside summary").click()
        page.locator(".word").first.wait_for()
        page.locator("#back li").first.wait_for()
        copied = page.locator(".token.copied")
        (copied if copied.count() else page.locator(".token")).first.hover()
        picture = page.screenshot(full_page=True)
        browser.close()
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--out", type=Path, default=Path("docs/images/page.png"))
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1200)
    options = parser.parse_args()
    with serving(options.run) as url:
        picture = photograph(url, options.question, dark=options.dark, width=options.width)
    # Few colours are in it, and a palette of them makes the file several times smaller.
    image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, kmeans=2, dither=Image.Dither.NONE)
    with replacing(options.out) as part:
        image.save(part, format="PNG", optimize=True)
    print(f"{options.out}: {image.width} x {image.height}, {options.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
