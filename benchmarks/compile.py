"""Summary: seconds to compile a source that includes the whole library, against Pinocchio

Each source includes what a program that loads a robot and computes its motion needs, and calls the loader. Both are
compiled, not linked, with the same compiler at -O2; the best of several runs counts.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

OURS = """
#include <bunraku/bunraku.hpp>

int main(int, char** argv) {
  const bunraku::Model model = bunraku::load(argv[1]);
  return sizeof(model) > 0 ? 0 : 1;
}
"""

PINOCCHIO = """
#include <pinocchio/multibody.hpp>
#include <pinocchio/parsers/urdf.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>

int main(int, char** argv) {
  pinocchio::Model model;
  pinocchio::urdf::buildModel(argv[1], model);
  return model.nq > 0 ? 0 : 1;
}
"""


def pkg_config(*arguments):
    return subprocess.run(["pkg-config", *arguments], check=True, capture_output=True, text=True).stdout.split()


def cached(build, name):
    """A variable of the build's CMake cache."""
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else ""


def pinocchio_flags(peers):
    """As the CMake targets in Pinocchio's package say, its explicit template instantiations used."""
    (prefix,) = peers.glob("lib/python3*/site-packages/cmeel.prefix")
    urdfdom = pkg_config("--modversion", "urdfdom_headers")[0].split(".")
    definitions = [
        "BOOST_MPL_LIMIT_LIST_SIZE=30",
        "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
        "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "BOOST_FUSION_INVOKE_MAX_ARITY=12",
        "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
        "PINOCCHIO_WITH_URDFDOM",
        f"PINOCCHIO_URDFDOM_HEADERS_MAJOR_VERSION={urdfdom[0]}",
        f"PINOCCHIO_URDFDOM_HEADERS_MINOR_VERSION={urdfdom[1]}",
        f"PINOCCHIO_URDFDOM_HEADERS_PATCH_VERSION={urdfdom[2]}",
    ]
    return ["-std=c++17", *(f"-D{d}" for d in definitions), "-isystem", str(prefix / "include")]


def best_ns(command, source, repeat):
    best = None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "main.cpp")
        file.write_text(source)
        for _ in range(repeat):
            start = time.perf_counter_ns()
            run = subprocess.run([*command, "-c", str(file), "-o", str(file.with_suffix(".o"))],
                                 capture_output=True, text=True)
            elapsed = time.perf_counter_ns() - start
            if run.returncode != 0:
                sys.exit(f"compile: {' '.join(command)} failed:\n{run.stderr[:4000]}")
            best = elapsed if best is None else min(best, elapsed)
    return best


def main():
    parser = argparse.ArgumentParser(prog="run bench compile", description=__doc__.split("\n", 1)[0][9:])
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the figures to FILE")
    parser.add_argument("--repeat", metavar="N", type=int, default=3, help="runs, the best of which counts (default 3)")
    options = parser.parse_args()

    build = Path(os.environ["BUNRAKU_BUILD_DIR"])
    compiler = [cached(build, "CMAKE_CXX_COMPILER"), "-O2", *pkg_config("--cflags", "eigen3")]
    ours = best_ns([*compiler, "-std=c++20", "-I", os.environ["BUNRAKU_SOURCE_DIR"]], OURS, options.repeat)
    peer = "pinocchio " + metadata.version("pin")
    theirs = best_ns(compiler + pinocchio_flags(Path(os.environ["BUNRAKU_PEERS_DIR"])), PINOCCHIO, options.repeat)
    ratio = theirs / ours

    print(f"{'quantity':<12}{'bunraku':>12}{peer:>20}{'ratio':>10}")
    print(f"{'compile':<12}{ours / 1e9:>10.2f} s{theirs / 1e9:>18.2f} s{ratio:>10.2f}")
    if options.json:
        row = {"robot": None, "quantity": "compile", "ours_ns": ours, "peer": peer, "peer_ns": theirs, "ratio": ratio}
        options.json.write_text(json.dumps({"rows": [row], "summary": {"compile": ratio}}, indent=2) + "\n")


if __name__ == "__main__":
    main()
