#!/usr/bin/env python3
"""Runs the examples in README.md and docs/*.md again and writes down what they print.

An example is a line `$ COMMAND` in a block that begins with ```console; what follows it is its output. The tests compare
the two.

Usage: tools/refresh_examples.py [PROGRAM]     (default: build/release/bunraku)
"""

import os
import pathlib
import subprocess
import sys


def refreshed(text, program, root):
    out, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line == "```console"
        if not inside or line.startswith("```"):
            out.append(line)
        elif line.startswith("$ "):
            out.append(line)
            path = f"{program.parent}:{os.environ['PATH']}"
            done = subprocess.run(
                line[2:], shell=True, cwd=root, env={**os.environ, "PATH": path}, capture_output=True, text=True)
            out += (done.stdout + done.stderr).splitlines()
    return "\n".join(out) + "\n"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/release/bunraku").resolve()
    if not program.is_file():
        sys.exit(f"there is no program {program}: ./run build makes it\n{__doc__}")
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        before = path.read_text()
        after = refreshed(before, program, root)
        if after != before:
            path.write_text(after)
            print(f"refreshed {path.relative_to(root)}")


if __name__ == "__main__":
    main()
