"""Simulates campaigns, lets the analysis judge them, and prints how often each promise holds.

Usage: python -m simulation [--aims] [--campaigns 1000] [WORD...]
WORD: only promises with it in the name. --aims: what a comparison of three minutes should tell.
Exit 0: no promise is broken; 1: the table says which.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor

from simulation.aims import aims
from simulation.answers import ask
from simulation.count import Count
from simulation.promises import promises
from simulation.scenario import Promise

HEADER = f"{'promise':<78} {'promised':>12} {'found':>7}   {'95 % interval':<15} {'rows':>5}"


def line(name: str, promise: Promise, found: Count) -> str:
    low, high = found.interval()
    word = "holds" if promise.low <= found.rate <= promise.high else "cannot tell"
    if found.contradicts(promise.low, promise.high):
        word = "BROKEN"
    return (
        f"{name:<78} {_bounds(promise):>12} {found.rate:>7.1%}   "
        f"{f'{low:.1%} to {high:.1%}':<15} {found.rows:>5}  {word}"
    )


def _bounds(promise: Promise) -> str:
    if promise.low == 0:
        return f"<= {promise.high * 100:g}%"
    return (
        f">= {promise.low:.0%}" if promise.high == 1 else (f"{promise.low:.0%}-{promise.high:.0%}")
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=1000, help="for each promise")
    parser.add_argument("--aims", action="store_true", help="the aims in place of the promises")
    parser.add_argument("words", nargs="*", help="only promises with one of these in their name")
    chosen = parser.parse_args()
    wanted = {
        name: promise
        for name, promise in (aims() if chosen.aims else promises()).items()
        if not chosen.words or any(word in name for word in chosen.words)
    }
    print(HEADER, flush=True)
    broken = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = {
            name: pool.submit(ask, promise, chosen.campaigns * promise.times, name)
            for name, promise in wanted.items()
        }
        for name, future in futures.items():
            found = future.result()
            broken += found.contradicts(wanted[name].low, wanted[name].high)
            print(line(name, wanted[name], found), flush=True)
    print(f"{broken} of {len(wanted)} promises are broken; {chosen.campaigns} campaigns each")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
