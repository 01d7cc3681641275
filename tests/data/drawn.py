"""What a figure shows, read back from its SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"

STEP = re.compile(r"m(-?[\d.]+)[ ]?(-?[\d.]+)h0")


def dots(root: ElementTree.Element) -> list[tuple[float, float]]:
    """The centres of all dots, those that stand alone and those that are drawn together."""
    found = [(float(e.get("cx", -1)), float(e.get("cy", -1))) for e in root.iter(f"{SVG}circle")]
    for path in root.iter(f"{SVG}path"):
        x = y = 0.0
        steps = STEP.findall(path.get("d", ""))
        if steps:
            assert "".join(STEP.split(path.get("d", ""))[::3]) == "", "other steps, too"
        for across, down in steps:
            x, y = x + float(across), y + float(down)
            found.append((x, y))
    return found
