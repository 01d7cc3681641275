"""An experiment that needs no compiler: each subject misbehaves in the way that it is named for.

Speaks the protocol of schema/README.md, section 1.
"""

import json
import os
import sys
import time
from pathlib import Path

NAME = Path(sys.argv[0]).name
SUBJECTS = {
    "subjects": [
        "good",
        "slower",
        "crash",
        "hang",
        "refuse",
        "wrong_work",
        "noisy",
        "torn",
        "misspelt",
        "exits_5",
        "many",
        "hang_64",
    ],
    "single": ["good", "malloc"],
}[NAME]


def say(**line):
    print(json.dumps(line), flush=True)


def describe():
    say(
        schema=1,
        id=f"fake/{NAME}",
        family="fake",
        question="Does the runner cope?",
        isolates="the runner",
        not_shown="anything real",
        parameters=[
            {
                "name": "size",
                "meaning": "bytes",
                "default": [8, 64],
                "smoke": [8],
                "unit": "bytes",
                "least": 1,
            },
            {
                "name": "mode",
                "meaning": "a word",
                "default": ["a"],
                "smoke": ["a"],
                "choices": ["a", "also", "zz"],
            },
        ],
        quantities=[{"name": "pair", "unit": "ns/op", "better": "lower"}],
        subjects=[
            {"name": name, "kind": "malloc" if name == "malloc" else "inline", "title": name}
            for name in SUBJECTS
        ],
        baseline=SUBJECTS[-1] if NAME == "single" else "good",
        repeats=3,
        dropped_repeats=1,
    )


def sample(repeat, value):
    say(kind="sample", repeat=repeat, values={"pair": value}, facts={"elapsed_ns": 5_000_000})


def measure(subject, settings, repeats):
    start = {
        "kind": "start",
        "schema": 1,
        "experiment": f"fake/{NAME}",
        "subject": subject,
        "parameters": settings,
        "pid": os.getpid(),
    }
    if "FAKE_MALLOC" in os.environ:
        start["malloc"] = {"path": os.environ["FAKE_MALLOC"], "build_id": ""}
    say(**start)
    if subject == "refuse":
        say(kind="refused", what="affinity", reason="there is one processor only")
        return 0
    for repeat in range(1000 if subject == "many" else repeats):
        sample(repeat, {"slower": 20.0}.get(subject, 10.0) + repeat / 100)
        if subject == "many":
            time.sleep(0.01)
    return misbehave(subject, settings)


def misbehave(subject, settings):
    if subject == "crash":
        print("about to fall", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 11)
    if subject == "hang" or (subject == "hang_64" and settings.get("size") == "64"):
        time.sleep(600)
    if subject == "wrong_work":
        say(kind="check", id="work", ok=False, detail="7 distinct blocks of 8")
        return 3
    if subject == "exits_5":
        return 5
    if subject == "noisy":
        print("this is no JSON")
        print("[1, 2]")
    if subject == "misspelt":
        say(kind="sample", repeat="first", values={"pair": "much"})
    if subject == "torn":
        print('{"kind":"sample","repeat":9', end="", flush=True)
        return 0
    say(kind="check", id="work", ok=True, detail="all of it")
    say(kind="check", id="told", ok=True, detail=os.environ.get("FAKE_TOLD", ""))
    say(kind="end", expected_calls=int(os.environ.get("FAKE_CALLS", "3")))
    return 0


def main():
    words = sys.argv[1:]
    if words == ["--describe"]:
        describe()
        return 0
    subject, settings, repeats = "good", {}, 3
    while words:
        word = words.pop(0)
        if word == "--subject":
            subject = words.pop(0)
        elif word == "--set":
            name, _, value = words.pop(0).partition("=")
            settings[name] = value
        elif word == "--repeats":
            repeats = int(words.pop(0))
        elif word == "--seed":
            words.pop(0)
        elif word != "--smoke":
            print(f"unknown {word}", file=sys.stderr)
            return 2
    return measure(subject, settings, repeats)


sys.exit(main())
