#!/usr/bin/env python3
"""Pipes states through the program: JSON lines in, JSON lines out, here from Python, but any language will do.

Torques of a motion are computed from its accelerations, then the accelerations from the torques, and the power of the
torques is compared with the rate of energy along the motion.
"""

import json
import math
import subprocess

MODEL = "models/manipulator.urdf"


def bunraku(want, states):
    """One answer for each state."""
    lines = "".join(json.dumps(state) + "\n" for state in states)
    command = ["bunraku", "eval", MODEL, "--ideal", "--want", want, "--states", "-"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def motion(t):
    """Each hinge swings at its own pace."""
    hinges = range(7)
    return {
        "q": [0.3 * math.sin((i + 1) * t) for i in hinges],
        "v": [0.3 * (i + 1) * math.cos((i + 1) * t) for i in hinges],
        "a": [-0.3 * (i + 1) ** 2 * math.sin((i + 1) * t) for i in hinges],
    }


info = json.loads(subprocess.run(["bunraku", "info", MODEL, "--json"], capture_output=True, check=True).stdout)
print(f"{info['name']}: {info['nv']} degrees of freedom, {info['mass']:g} kg")

h = 1e-3
states = [motion(h * i) for i in range(2001)]
torques = bunraku("id,energy", states)
back = bunraku("fd", [{**state, "tau": answer["id"]} for state, answer in zip(states, torques)])

worst = max(abs(x - y) for state, answer in zip(states, back) for x, y in zip(state["a"], answer["fd"]))
print(f"accelerations come back to {worst:.1e} rad/s²")

# The work of the torques, by Simpson's rule, is the gain in energy.
power = [sum(x * y for x, y in zip(answer["id"], state["v"])) for state, answer in zip(states, torques)]
work = h / 3 * sum(p * (1 if i in (0, 2000) else 4 if i % 2 else 2) for i, p in enumerate(power))
first, last = (sum(torques[i]["energy"].values()) for i in (0, -1))
print(f"work {work:.9f} J, gain in energy {last - first:.9f} J")
raise SystemExit(0 if worst < 1e-9 and abs(work - (last - first)) < 1e-7 else 1)
