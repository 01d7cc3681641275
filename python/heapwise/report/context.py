"""What a section gives its template."""

from __future__ import annotations

from collections.abc import Mapping

Context = Mapping[str, object]
"""Name in the template -> value. Templates alone read it."""
