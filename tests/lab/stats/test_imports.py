"""What every start of the command pays for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import heapwise


def test_scipy_is_loaded_by_what_calls_it_and_not_before() -> None:
    program = (
        "import sys, heapwise.analysis, heapwise.runner\n"
        "print(sorted(m for m in sys.modules if m.startswith('scipy')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"


def test_functions_of_scipy_are_loaded_without_the_rest_of_it() -> None:
    """A program that loads the rest later gets it, with the same functions."""
    program = (
        "import sys\n"
        "from heapwise.stats.basics import special\n"
        "rest = ('scipy.special', 'numpy.f2py', 'unittest')\n"
        "print([module for module in rest if module in sys.modules])\n"
        "import scipy.special as whole, scipy.stats\n"
        "print([n for n in special.NAMES if getattr(whole, n) is not getattr(special, n)])\n"
        "print(round(float(whole.logsumexp([0, 0])), 4), scipy.stats.norm.cdf(0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["[]", "[]", "0.6931 0.5"]


def test_another_version_of_scipy_is_loaded_as_a_whole() -> None:
    program = (
        "import sys\n"
        "sys.modules['scipy.special._ufuncs'] = None\n"
        "import heapwise.stats.basics.special as special\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert "scipy/special/__init__.py" in done.stderr  # which fails too, without that module


def loading(part: str) -> set[str]:
    """The sources that load this part of scipy."""
    package = Path(heapwise.__file__).parent
    ways = (rf"from scipy\.{part}", rf"from scipy import .*\b{part}", rf"import scipy\.{part}")
    form = re.compile(rf"^\s*({'|'.join(ways)})", re.MULTILINE)
    return {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if form.search(path.read_text(encoding="utf-8"))
    }


def test_scipy_stats_is_never_loaded() -> None:
    assert loading("stats") == set()


def test_scipy_special_is_loaded_by_what_judges_no_run() -> None:
    assert loading("special") == {"trace/profile.py"}
