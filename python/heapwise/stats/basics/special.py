"""Functions of scipy.special, without the rest of it.

Every judged run needs some of them. To load scipy.special takes 0.2 s, which is longer than to
judge a small run: it makes copies of numpy's namespaces and loads even its Fortran reader for them.
The functions lie in one compiled module that needs nothing of that.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "scipy.special"
NAMES = ("bdtr", "bdtrc", "ndtr", "ndtri", "stdtr", "stdtrit")


def _load() -> Any:
    """The module that has the functions: the compiled one if it can be loaded alone."""
    if PACKAGE not in sys.modules:
        import scipy

        stand_in = ModuleType(PACKAGE)
        stand_in.__path__ = [str(Path(scipy.__file__).parent / "special")]
        sys.modules[PACKAGE] = stand_in
        try:
            found = importlib.import_module(f"{PACKAGE}._ufuncs")
            if all(hasattr(found, name) for name in NAMES):
                return found
        except ImportError:  # another version of scipy: its parts have other names
            pass
        finally:
            del sys.modules[PACKAGE]
    return importlib.import_module(PACKAGE)


_functions = _load()
bdtr, bdtrc = _functions.bdtr, _functions.bdtrc
ndtr, ndtri = _functions.ndtr, _functions.ndtri
stdtr, stdtrit = _functions.stdtr, _functions.stdtrit
