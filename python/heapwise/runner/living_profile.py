"""How a process that runs under the heap of Heapwise gives a heap profile of itself."""

from __future__ import annotations

from pathlib import Path

LIBRARY = "libheapwise-malloc"
EVERY, PLACE, SIGNAL = (f"HEAPWISE_MALLOC_PROFILE{name}" for name in ("_EVERY", "", "_SIGNAL"))
"""Variables: the mean bytes between two samples, the begin of the path of profiles, and the signal
that asks for one."""

USUAL = {EVERY: "524288", PLACE: "/tmp/heap", SIGNAL: "12"}


def profile_advice(process: int) -> str:
    """Says how to get a profile of the process; "" if its malloc cannot make one."""
    if not _can_profile(process):
        return ""
    environment = _environment(process)
    place, signal = environment.get(PLACE), environment.get(SIGNAL)
    if place and signal and environment.get(EVERY, "0") != "0":
        return f"kill -{signal} {process}; heapwise trace {place}.{process}.1.pb"
    variables = " ".join(f"{name}={value}" for name, value in USUAL.items())
    return (
        f"start it with {variables}; then kill -{USUAL[SIGNAL]} PID writes a heap profile: "
        f"heapwise trace {USUAL[PLACE]}.PID.1.pb"
    )


def _can_profile(process: int) -> bool:
    """Whether the library that the process has loaded knows the variables."""
    try:
        mapped = Path(f"/proc/{process}/maps").read_text(errors="replace").splitlines()
        paths = {words[5] for line in mapped if len(words := line.split(maxsplit=5)) == 6}
        found = [path for path in paths if Path(path).name.startswith(LIBRARY)]
        name = SIGNAL.removeprefix("HEAPWISE_MALLOC_").encode()
        return any(name in Path(path).read_bytes() for path in found)
    except OSError:
        return False


def _environment(process: int) -> dict[str, str]:
    try:
        text = Path(f"/proc/{process}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(each.split("=", 1) for each in text.split("\0") if "=" in each)
