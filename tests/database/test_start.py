"""How soon the first question is answered: no library is loaded that it does not need."""

from __future__ import annotations

import json
import subprocess
import sys

from dualparse.database.connect import connect
from dualparse.database.location import locate

LOADED = """
import json, sys
from pathlib import Path
from dualparse.asking.asker import open_asker
from dualparse.database.names import plural
with open_asker(Path(sys.argv[1])) as asker:
    assert asker.ask("how many films are there").rows == ((4,),), asker.ask("how many films are there")
assert plural("hut") == "huts"
import inflect, typeguard
assert typeguard.typechecked.__name__ == "typechecked"
compiled_anew = [name for name in inflect.engine.plural_noun.__code__.co_names if "check_" in name]
print(json.dumps([sorted({name.partition(".")[0] for name in sys.modules}), compiled_anew]))
"""


def test_a_question_about_a_sqlite_file_loads_no_other_engine(shop, tmp_path):
    connect(locate(str(shop)), tmp_path / "out")
    command = [sys.executable, "-c", LOADED, str(tmp_path / "out")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    loaded, compiled_anew = json.loads(printed)
    assert not {"sqlalchemy", "duckdb", "psycopg", "pyarrow", "torch", "pandas"} & set(loaded)
    assert not compiled_anew  # inflect with its types checked takes a second and more to load
