"""Effects of known size in real programs: does ``compare`` tell them, and are its intervals right?

The programs are those of ``tests/world``, whose declarations ``tools/world`` reads.
"""

from __future__ import annotations

import sys
from pathlib import Path

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")
if TOOLS not in sys.path:
    sys.path.append(TOOLS)
