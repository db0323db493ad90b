#!/usr/bin/env python3
"""Checks that object files of one variant of the kernels define nothing that another could share.

The linker keeps one of all weak definitions of a name. Were one of them compiled for AVX2 and named like one for any
processor, the library might run it on a processor that does not have AVX2. So every symbol that such an object defines
for others must have the variant's name in its own.

Usage: tools/variant_symbols.py VARIANT NM OBJECT...
"""

import subprocess
import sys

# what a compiler defines in every object, and what belongs to no code
HARMLESS = ("DW.ref.",)


def shared_symbols(nm, path, variant):
    """The names that an object defines for others without the variant's name in them."""
    text = subprocess.run([nm, "--defined-only", "--extern-only", path], capture_output=True, text=True, check=True)
    # mangled, a namespace is its length and its name
    tag = f"{len(variant)}{variant}"
    names = [line.split()[-1] for line in text.stdout.splitlines() if line.split()]
    return [name for name in names if tag not in name and not name.startswith(HARMLESS)]


def main(variant, nm, *objects):
    wrong = {path: names for path in objects if (names := shared_symbols(nm, path, variant))}
    for path, names in wrong.items():
        print(f"{path} defines for others, without {variant} in the name:")
        for name in names:
            print("  " + subprocess.run(["c++filt", name], capture_output=True, text=True, check=False).stdout.strip())
    if not objects:
        print("no objects given")
    print(f"{len(objects)} objects looked at, {len(wrong)} with symbols that others could share")
    return 1 if wrong or not objects else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
