#!/usr/bin/env python3
"""Counts the tests in a log of ctest and prints PASSED FAILED SKIPPED; the skipped ones by name on standard error.

A test of ctest's is one test, or a program with many, run with --verbose: then the program's own summary counts.

Usage: tools/count_tests.py LOG        tools/count_tests.py --check
"""

import collections
import re
import sys

# "  3/90 Test  #3: model.Hinge.Laws/0  # GetParam() = 0 ......   Passed    0.02 sec"
VERDICT = re.compile(r"^ *\d+/\d+ Test +#(\d+): (\S+) .*?(Passed|\*\*\*Skipped|\*\*\*.*?) *[\d.]+ sec")
# "3: [  PASSED  ] 12 tests."
SUMMARY = re.compile(r"^(\d+): \[ +(PASSED|FAILED|SKIPPED) +\] (\d+) tests?[.,]")
SKIPPED_IN_PROGRAM = re.compile(r"^\d+: \[ +SKIPPED +\] ([A-Za-z]\S*)$")


def count(lines):
    """Returns the numbers of tests that passed, failed and were skipped, and the names of the last."""
    verdicts, programs, names = {}, collections.defaultdict(collections.Counter), []
    for line in lines:
        if match := VERDICT.match(line):
            verdicts[match[1]] = (match[2], match[3].strip("*"))
        elif match := SUMMARY.match(line):
            programs[match[1]][match[2]] += int(match[3])
        elif (match := SKIPPED_IN_PROGRAM.match(line)) and match[1] not in names:
            names.append(match[1])
    total = collections.Counter()
    for number, (name, verdict) in verdicts.items():
        own = programs.get(number)
        if own:
            total += own
        if verdict == "Skipped" and not own:
            total["SKIPPED"] += 1
            names.append(name)
        elif verdict not in ("Passed", "Skipped") and not (own and own["FAILED"]):
            total["FAILED"] += 1  # it crashed, took too long, or was not there
        elif verdict == "Passed" and not own:
            total["PASSED"] += 1
    return total["PASSED"], total["FAILED"], total["SKIPPED"], names


def check():
    """Counts logs whose numbers are known."""
    each = """      Start  1: a.One
 1/4 Test  #1: a.One/0  # GetParam() = "x .." ..   Passed    0.01 sec
 2/4 Test  #2: a.Two ..........................***Skipped   0.01 sec
 3/4 Test #13: b.Long.Name/0 ..................***Failed    0.21 sec
 4/4 Test  #4: b.Slow .........................***Timeout 300.01 sec
50% tests passed, 2 tests failed out of 4
The following tests did not run:
\t  2 - a.Two (Skipped)
"""
    programs = """7: [  SKIPPED ] Cli.Terminal (0 ms)
7: [  PASSED  ] 11 tests.
7: [  SKIPPED ] 1 test, listed below:
7: [  SKIPPED ] Cli.Terminal
1/4 Test #7: cli_0 ............................   Passed    4.01 sec
8: [  PASSED  ] 5 tests.
8: [  FAILED  ] 2 tests, listed below:
8: [  FAILED  ] Cli.One
8: [  FAILED  ] Cli.Two
2/4 Test #8: cli_1 ............................***Failed    4.01 sec
9: [ RUN      ] Io.Crash
3/4 Test #9: io_0 .............................***Exception: SegFault  1.00 sec
4/4 Test #10: io_1 ............................Subprocess aborted***Exception:   1.00 sec
"""
    assert count(each.splitlines()) == (1, 2, 1, ["a.Two"]), count(each.splitlines())
    assert count(programs.splitlines()) == (16, 4, 1, ["Cli.Terminal"]), count(programs.splitlines())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        check()
        return
    with open(sys.argv[1], errors="replace") as log:
        passed, failed, skipped, names = count(log)
    for name in names:
        print(f"skipped: {name}", file=sys.stderr)
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
