"""What ``trace --json`` prints satisfies its schemas; nothing that a schema demands is left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[3]

HEAP = """heap profile:      1:     1024 [     1:     1024] @ heapprofile
     1:     1024 [     1:     1024] @ 0x0000000000003000
"""


def document(heapwise: Any, form: str, folder: Path) -> Any:
    path = folder / f"{form}.hwt"
    if form == "heap_profile":
        path.write_text(HEAP)
    else:
        options = ["--profile", "--sample-every", "4096"] if form == "profile" else []
        done = heapwise("record", *options, "-o", path, "--", "perl", "-e", "my @a = (1..5000)")
        assert done.returncode == 0, done.stderr
    return json.loads(heapwise("trace", path, "--json").stdout)


@pytest.mark.parametrize("form", ["trace", "profile", "heap_profile"])
def test_printed_documents_satisfy_their_schema(heapwise: Any, form: str, tmp_path: Path) -> None:
    schema = json.loads((ROOT / "schema" / f"{form}.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    found = document(heapwise, form, tmp_path)
    assert found["kind"] == form
    validator.validate(found)
    required = schema["$defs"][schema["$ref"].rpartition("/")[2]]["required"]
    assert len(required) > 4
    for key in required:
        assert not validator.is_valid({name: found[name] for name in found if name != key}), key


def test_a_file_of_gzip_without_a_profile_is_refused(heapwise: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.pb.gz"
    path.write_bytes(gzip.compress(b"text"))
    done = heapwise("trace", path)
    assert done.returncode == 2
    assert "E062" in done.stderr
