#!/usr/bin/env python3
"""Runs clang-tidy over the library and the program, as build/release compiles them.

A source that passed is not looked at again until it, a header it includes, its flags, the settings or clang-tidy
change: what was looked at is kept in build/tidy, one file each.

Usage: tools/tidy.py [-j JOBS] [FILE...]
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
STAMPS = ROOT / "build/tidy"
TIDY = ROOT / "build/tools/bin/clang-tidy"


def commands(files):
    """The entries of the compilation database, by source, in a stable order."""
    out = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not source.is_relative_to(ROOT) or source.relative_to(ROOT).parts[0] not in ("bunraku", "cli"):
            continue
        # a variant for some processors, of which the one for any says the same, or a source that tests compile, too
        if "-march=" in entry["command"] or " -o tests/" in entry["command"]:
            continue
        if not files or source in files:
            # flags that clang does not know
            out[source] = entry | {"command": re.sub(r" -m(move|store)-max=\d+", "", entry["command"])}
    return dict(sorted(out.items()))


def dependencies():
    """The project's own files that each object was compiled from, as Ninja knows them."""
    text = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    out, files = {}, []
    for line in text.splitlines():
        if match := re.match(r"^(\S.*): #deps", line):
            files = out.setdefault(match[1], [])
        elif line.startswith("    "):
            path = (BUILD / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                files.append(path)
    return out


def fingerprint(entry, files, common):
    digest = hashlib.sha256(common)
    digest.update(entry["command"].encode())
    for path in sorted(set(files)):
        digest.update(str(path).encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def look_at(source):
    done = subprocess.run([TIDY, "--quiet", "-p", STAMPS, source], capture_output=True, text=True)
    return source, done.returncode, done.stdout + (done.stderr if done.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("files", nargs="*", type=lambda name: pathlib.Path(name).resolve())
    options = parser.parse_args()
    if not (BUILD / "compile_commands.json").is_file():
        sys.exit("build/release is missing: ./run build makes it")
    if not TIDY.is_file():
        sys.exit("build/tools/bin/clang-tidy is missing: ./run format installs it")

    common = (ROOT / ".clang-tidy").read_bytes() + (ROOT / "tools/requirements.txt").read_bytes()
    known, todo = dependencies(), {}
    STAMPS.mkdir(parents=True, exist_ok=True)
    entries = commands(options.files)
    (STAMPS / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    for source, entry in entries.items():
        output = entry.get("output") or re.search(r" -o (\S+)", entry["command"])[1]
        print_ = fingerprint(entry, [source, *known.get(output, [])], common)
        stamp = STAMPS / str(source.relative_to(ROOT)).replace("/", "-")
        if output not in known or not stamp.is_file() or stamp.read_text() != print_:
            todo[source] = (stamp, print_)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # the largest first, so that none is left to run alone in the end
        for source, status, text in pool.map(look_at, sorted(todo, key=lambda s: -s.stat().st_size)):
            stamp, print_ = todo[source]
            if status == 0:
                stamp.write_text(print_)
            else:
                bad += 1
                print(f"{source.relative_to(ROOT)}:\n{text}", flush=True)
    print(f"{len(todo)} sources looked at, {bad} with complaints")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
