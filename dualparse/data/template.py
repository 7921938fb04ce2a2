"""A small working domain folder for a user to edit: a path in, the files written out (`dualparse domain new`)."""

from __future__ import annotations

import re
from pathlib import Path

import dualparse.domains
from dualparse.domains.folder import DESCRIPTION
from dualparse.errors import InputError
from dualparse.files import write_text

TEMPLATE = Path(dualparse.domains.__file__).parent / "template"


def write_template(folder: Path) -> list[Path]:
    """Write the template into a new or empty folder, under the folder's name; returns the files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("is there already; name a new folder", path=folder)
    written = []
    try:
        for source in sorted(path for path in TEMPLATE.iterdir() if path.is_file()):
            text = source.read_text(encoding="utf-8")
            if source.name == DESCRIPTION:
                text = re.sub(r'^name = ".*"$', f'name = "{_domain_name(folder)}"', text, flags=re.MULTILINE)
            write_text(folder / source.name, text)
            written.append(folder / source.name)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=folder) from error
    return written


def _domain_name(folder: Path) -> str:
    """A name like the folder's, of the letters a name may have."""
    return re.sub(r"[^a-z0-9_-]+", "-", folder.resolve().name.lower()).strip("-_") or "library"
