#!/usr/bin/env python3
"""Runs clang-tidy over the library and the program, as the preset release compiles them: several sources at once, which
takes half of the time, or one by one where files are named.

What passed is not looked at again until a source of it, a header of the project, its flags, the settings or clang-tidy
change: that is kept in build/tidy, one file each.

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
STAMPS = ROOT / "build/tidy"
BUILD = STAMPS / "commands"
TIDY = ROOT / "build/tools/bin/clang-tidy"


def is_ours(source):
    return source.relative_to(ROOT).parts[0] in ("bunraku", "cli")


def members(source):
    """The sources that one made by CMake for a unity build includes; none of another."""
    if source.parent.name != "Unity" or "tests" in source.relative_to(BUILD).parts:
        return []
    return [pathlib.Path(name) for name in re.findall(r'#include "([^"]+)"', source.read_text())]


def commands(files):
    """The entries of the compilation database, by source, in a stable order."""
    out = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not source.is_relative_to(ROOT) or not (members(source) or is_ours(source)):
            continue
        # a variant for some processors, of which the one for any says the same, or a source that tests compile, too
        if "-march=" in entry["command"] or " -o tests/" in entry["command"]:
            continue
        if not files or source in files:
            flags_of_gcc_alone = r" -m(move-max|store-max|memset-strategy|memcpy-strategy)=\S+"
            out[source] = entry | {"command": re.sub(flags_of_gcc_alone, "", entry["command"])}
    return dict(sorted(out.items()))


def configure(unity):
    """A compilation database."""
    done = subprocess.run(["cmake", "--preset", "release", "-B", BUILD, f"-DCMAKE_UNITY_BUILD={unity}"], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def fingerprint(entry, files, common):
    digest = hashlib.sha256(common)
    digest.update(entry["command"].encode())
    for path in sorted(set(files)):
        digest.update(str(path).encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def look_at(source):
    # which speak of files that stand alone
    unlike = ["--checks=-bugprone-suspicious-include,-readability-redundant-declaration"] if members(source) else []
    done = subprocess.run([TIDY, "--quiet", *unlike, "-p", STAMPS, source], capture_output=True, text=True)
    return source, done.returncode, done.stdout + (done.stderr if done.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("files", nargs="*", type=lambda name: pathlib.Path(name).resolve())
    options = parser.parse_args()
    if not TIDY.is_file():
        sys.exit("build/tools/bin/clang-tidy is missing: ./run format installs it")

    common = (ROOT / ".clang-tidy").read_bytes() + (ROOT / "tools/requirements.txt").read_bytes()
    STAMPS.mkdir(parents=True, exist_ok=True)
    configure("OFF" if options.files else "ON")
    headers, todo = [path for folder in ("bunraku", "cli") for path in (ROOT / folder).rglob("*.hpp")], {}
    entries = commands(options.files)
    (STAMPS / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    for source, entry in entries.items():
        print_ = fingerprint(entry, [source, *members(source), *headers], common)
        stamp = STAMPS / str(source.relative_to(ROOT)).replace("/", "-")
        if not stamp.is_file() or stamp.read_text() != print_:
            todo[source] = (stamp, print_)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # the largest first, so that none is left to run alone in the end
        largest_first = sorted(todo, key=lambda s: -sum(f.stat().st_size for f in [s, *members(s)]))
        for source, status, text in pool.map(look_at, largest_first):
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
