"""Builds the site of the documents, of the public headers and of the commands' help.

Usage: build_site.py OUTPUT      exit 0: OUTPUT/index.html is there; 1: a warning, which is printed.

It runs with the Python of the site's own environment (tools/build_site makes that). The help comes
from HEAPWISE_SITE_PYTHON, a Python that can import the laboratory's dependencies.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import folder_lists, header_page, help_page, index_page, list_page
from staging import public_headers, stage

ROOT = Path(__file__).parent.parent.parent


def main() -> int:
    output = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="heapwise-site-") as scratch:
        return build(Path(scratch), output)


def build(scratch: Path, output: Path) -> int:
    """Effects: writes the site to ``output``. Returns: the exit code of the first tool that failed,
    or 0."""
    pages = scratch / "pages"
    stage(ROOT, pages)
    write_generated(pages)
    if code := run_doxygen(scratch):
        return code
    fresh = scratch / "html"
    settings = {
        "HEAPWISE_SITE_XML": str(scratch / "xml"),
        "HEAPWISE_SITE_VERSION": version(),
    }
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    command += ["--jobs", "2", "-b", "html", str(pages), str(fresh)]
    if code := subprocess.run(command, env=os.environ | settings, check=False).returncode:
        return code
    shutil.rmtree(output, ignore_errors=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(fresh, output)
    shutil.rmtree(output / ".doctrees", ignore_errors=True)
    return 0


def write_generated(pages: Path) -> None:
    """The pages that no document has: headers, help, and the lists of folders."""
    headers = public_headers(ROOT)
    for header in headers:
        page = pages / "headers" / f"{header}.rst"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(header_page(header))
    (pages / "headers" / "index.rst").write_text(list_page("Public headers", headers))
    (pages / "commands.rst").write_text(help_page(ROOT))
    folder_lists(pages)
    (pages / "index.rst").write_text(index_page(pages))
    (pages / "_static").mkdir()
    here = Path(__file__).parent
    shutil.copy(here / "site.css", pages / "_static")
    shutil.copy(here / "conf.py", pages)


def run_doxygen(scratch: Path) -> int:
    """Effects: writes the XML of the public headers to ``scratch``/xml."""
    settings = (Path(__file__).parent / "Doxyfile").read_text()
    settings += f"\nOUTPUT_DIRECTORY = {scratch}\nWARN_AS_ERROR = FAIL_ON_WARNINGS\n"
    command = ["doxygen", "-"]
    return subprocess.run(command, input=settings, text=True, cwd=ROOT, check=False).returncode


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit("error: pyproject.toml has no version")
    return found[1]


if __name__ == "__main__":
    sys.exit(main())
