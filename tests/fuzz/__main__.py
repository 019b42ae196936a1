"""``python -m fuzz --minutes 20``: run by ``make fuzz``."""

import argparse
import json
import sys
import time
from collections import Counter

from fuzz.runs import HANGS, HUNG, TARGETS, try_corpus, try_drawn

BATCH = 20  # cases of one target and seed


def main():
    """Run targets in turn, print every new finding, and return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    parser.add_argument("--rounds", type=int, help="rounds in place of minutes; the same each time")
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    print(f"a case that takes more than {HANGS} s ends the run, and lies in {HUNG}", flush=True)
    found = {(one.target, one.where): one for one in try_corpus(names)}
    for one in found.values():
        show(one)
    seen, seed, start = Counter(), options.seed, time.monotonic()
    end = start + 60.0 * options.minutes
    while (
        time.monotonic() < end if options.rounds is None else seed < options.seed + options.rounds
    ):
        for name in names:
            until = float("inf") if options.rounds is not None else end
            one = try_drawn(name, seed, BATCH, seen, until)
            if one is not None and (one.target, one.where) not in found:
                found[one.target, one.where] = one
                show(one)
        seed += 1
    minutes = (time.monotonic() - start) / 60.0
    print(
        f"{sum(seen.values())} cases in {minutes:.1f} minutes, seeds {options.seed} to {seed - 1}"
    )
    for name in names:
        print(f"  {name:8} {seen[name, 'answered']:6} answered, {seen[name, 'refused']:6} refused")
    print(f"{len(found)} findings")
    return int(bool(found))


def show(one):
    """Print a finding, how to draw it again, and how to keep it."""
    print(f"\n{one.target}, seed {one.seed}: {one.error}\n  at {one.where}")
    if isinstance(one.seed, int):
        print(f"  again: python -m fuzz --target {one.target} --seed {one.seed} --rounds 1")
        print("  keep in tests/fuzz/corpus:")
    print(f"  {json.dumps({'target': one.target, 'case': one.case})}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
