"""Names of code that a program compiles while it runs, from the file that it writes for perf.

node --perf-basic-prof, java -XX:+DumpPerfMapAtExit and others write /tmp/perf-PID.map: a line
``ADDRESS SIZE NAME`` for each function, in hexadecimal.
"""

from __future__ import annotations

import os
import shutil
import stat
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

FOLDER = Path("/tmp")


@dataclass(frozen=True)
class PerfMap:
    """starts: addresses in order. ends, names: of the same functions."""

    starts: list[int]
    ends: list[int]
    names: list[str]

    @classmethod
    def read(cls, path: str) -> PerfMap:
        """The later of two functions at one address counts. Nothing if it cannot be read."""
        found: dict[int, tuple[int, str]] = {}
        try:
            text = Path(path).read_text(errors="replace")
        except OSError:
            text = ""
        for line in text.splitlines():
            words = line.split(maxsplit=2)
            try:
                if len(words) == 3:
                    start = int(words[0], 16)
                    found[start] = (start + int(words[1], 16), words[2])
            except ValueError:
                continue
        starts = sorted(found)
        return cls(starts, [found[at][0] for at in starts], [found[at][1] for at in starts])

    def name(self, address: int) -> str:
        """Empty if no function has the address."""
        at = bisect_right(self.starts, address) - 1
        return self.names[at] if at >= 0 and address < self.ends[at] else ""


AS_JAVA = "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit ..."
AS_NODE = "node --perf-basic-prof --interpreted-frames-native-stack ..."


def names_lacking(maps: str, perf_map: str, command: Sequence[str]) -> str:
    """A sentence on how to record a program of Java or node so that the functions that it compiles
    have names; "" for another program, and if there are such names."""
    if perf_map:
        return ""
    is_java = "/libjvm.so" in maps
    if not is_java and not (command and Path(command[0]).name in ("node", "nodejs")):
        return ""
    runtime, way = ("Java", AS_JAVA) if is_java else ("node", AS_NODE)
    return (
        f"functions that {runtime} compiled have no names, and are not among the callers. Record "
        f"with: heapwise record --stacks 16:frames -- {way}"
    )


def kept_map(trace: Path) -> Path:
    """Where a recording keeps the names beside its trace."""
    return trace.with_name(trace.name + ".perf-map")


def keep_perf_map(trace: Path, process: int, recorded: str) -> None:
    """Copies the file of a process that has ended: the system deletes files of /tmp, and gives
    the number of the process to another one. Removes that of an older trace of this name."""
    found = perf_map_of({"process": {"pid": process}, "recorded": recorded})
    with suppress(OSError):
        kept_map(trace).unlink(missing_ok=True)
        if found:
            shutil.copyfile(found, kept_map(trace))


def perf_map_of(about: dict[str, Any]) -> str:
    """The file of the recorded process; "" if there is none.

    The file of another user is not believed, nor one that was not written since the recording
    began: the process with this number was another one then.
    """
    process = about.get("process")
    number = process.get("pid") if isinstance(process, dict) else None
    try:
        began = datetime.fromisoformat(str(about.get("recorded"))).timestamp()
        path = FOLDER / f"perf-{int(str(number))}.map"
        status = path.lstat()
    except (ValueError, OSError):
        return ""
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return str(path) if is_ours and status.st_mtime >= began else ""
