"""Fuzzes the stored files and the command line of the laboratory.

    fuzz.py --seconds 60 [--first SEED]    tries one case for each seed, from SEED on
    fuzz.py --case SEED                    tries one case again and shows it

Each case depends on its seed alone. Exit code 1: a case failed, and its seed was printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "data"), str(ROOT / "python")]


import commands  # noqa: E402
import stored_files  # noqa: E402
from judge import judge  # noqa: E402
from sandbox import Sandbox  # noqa: E402

MEMORY_LIMIT = 4 << 30
ENOUGH = 20
"""Failures after which nothing new would be learnt."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    wanted = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    with tempfile.TemporaryDirectory(prefix="heapwise-fuzz-") as folder:
        sandbox = Sandbox(Path(folder).resolve() / "box")
        sandbox.fresh()
        if wanted.case is not None:
            return int(bool(try_case(wanted.case, sandbox, shown=True)))
        return many(sandbox, wanted.first, wanted.seconds)


def many(sandbox: Sandbox, first: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    seed, failed = first, 0
    while time.monotonic() < end and failed < ENOUGH:
        if wrong := try_case(seed, sandbox):
            failed += 1
            print(
                f"FAILED  case {seed}: {'; '.join(wrong)[:1500]}\n"
                f"        again: {sys.executable} {Path(__file__)} --case {seed}",
                flush=True,
            )
        seed += 1
    print(f"{seed - first} cases, seeds {first} to {seed - 1}, {failed} failed")
    return int(bool(failed))


def try_case(seed: int, sandbox: Sandbox, *, shown: bool = False) -> list[str]:
    """What is wrong with the case of this seed."""
    random = Random(seed)
    sandbox.fresh()
    calls = []
    id, files = "", {}
    if random.random() < 0.7:
        id, files = stored_files.changed_store(random)
        for name, content in files.items():
            path = sandbox.store / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        calls = [commands.of_stored(random, id, sandbox.store, sandbox.out) for _ in range(2)]
    else:
        calls = [commands.of_words(random, sandbox.root, sandbox.cwd, sandbox.store)]
    process = random.random() < 0.02
    wrong = []
    for call in calls:
        if shown:
            print(call, "process" if process else "")
        found = judge(call, sandbox, process=process)
        if shown and found:
            loud = replace(call, words=[call.words[0], "--debug", *call.words[1:]])
            print("\n".join(judge(loud, sandbox, process=False)))
        wrong += [f"{' '.join(map(ascii, call.words))[:300]}: {each}" for each in found]
    if shown:
        kept = Path(tempfile.mkdtemp(prefix=f"heapwise-fuzz-{seed}-"))
        for name, content in files.items():
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            (kept / name).write_bytes(content)
        print(f"store in {kept}\n" + ("\n".join(wrong) or "nothing is wrong"))
    return wrong


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
