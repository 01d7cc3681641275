"""What ``trace --json`` prints satisfies its schemas; nothing that a schema demands is left out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[3]

HEAP = """heap profile:      1:     1024 [     1:     1024] @ heapprofile
     1:     1024 [     1:     1024] @ 0x0000000000003000
"""


def heapwise(*words: str) -> str:
    return subprocess.run([sys.executable, "-m", "heapwise", *words], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=120).stdout


def document(form: str, folder: Path) -> Any:
    path = folder / f"{form}.hwt"
    if form == "heap_profile":
        path.write_text(HEAP)
    else:
        options = ["--profile", "--sample-every", "4096"] if form == "profile" else []
        heapwise("record", *options, "-o", str(path), "--", "perl", "-e", "my @a = (1..5000)")
    return json.loads(heapwise("trace", str(path), "--json"))


@pytest.mark.parametrize("form", ["trace", "profile", "heap_profile"])
def test_printed_documents_satisfy_their_schema(form: str, tmp_path: Path) -> None:
    schema = json.loads((ROOT / "schema" / f"{form}.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    found = document(form, tmp_path)
    assert found["kind"] == form
    validator.validate(found)
    required = schema["$defs"][schema["$ref"].rpartition("/")[2]]["required"]
    assert len(required) > 4
    for key in required:
        assert not validator.is_valid({name: found[name] for name in found if name != key}), key


def test_a_file_of_gzip_without_a_profile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pb.gz"
    path.write_bytes(gzip.compress(b"text"))
    done = subprocess.run([sys.executable, "-m", "heapwise", "trace", str(path)], text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "E062" in done.stderr
