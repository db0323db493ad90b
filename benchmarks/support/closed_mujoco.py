"""Accelerations of closed systems against MuJoCo's equality constraints.

Started by benchmarks/closed.sh. MuJoCo's constraints are soft: where a state satisfies them, as here, what is left is the
compliance (1 − d)/d of their impedance d, which is at most 0.9999: so far they reach. The motion is smooth in it, so that
two impedances tell what it would be without.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import mujoco
import numpy as np

TOLERANCE = 3e-5  # of the largest acceleration, without compliance: beyond it somebody is wrong
IMPEDANCES = (0.9999, 0.9998)
STATES = 16


def arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--program", required=True, help="the command bunraku")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--parts", nargs="+", default=[])
    parsed, _ = parser.parse_known_args()  # closed_bench has refused what is wrong
    parsed.parts = [name for names in parsed.parts for name in names.split(",")]
    return parsed


def numbers(values):
    return " ".join(f"{x:.17g}" for x in values)


def stewart():
    """Six legs on universal joints, a slide in each, and ball joints to a platform that three slides and three hinges
    hold."""
    legs, closures = [], []
    for i in range(6):
        turn = 2 * math.pi * (i // 2) / 3
        foot = np.array([math.cos(turn + (0.9 if i % 2 else 0.2)), math.sin(turn + (0.9 if i % 2 else 0.2)), 0.0])
        head = 0.6 * np.array([math.cos(turn + (0.7 if i % 2 else 0.4)), math.sin(turn + (0.7 if i % 2 else 0.4)), 0.0])
        along = head + [0.1, 0, 1.2] - foot
        length = np.linalg.norm(along)
        legs.append(
            f'<body name="lower{i}" pos="{numbers(foot)}" zaxis="{numbers(along)}">'
            '<joint axis="1 0 0"/><joint axis="0 1 0"/>'
            '<inertial pos="0 0 0.3" mass="2" diaginertia="0.06 0.06 0.01"/>'
            f'<body name="upper{i}" pos="0 0 {length / 2:.17g}"><joint type="slide" axis="0 0 1"/>'
            '<inertial pos="0 0 0.3" mass="1" diaginertia="0.03 0.03 0.002"/></body></body>'
        )
        closures.append(f'<connect name="ball{i}" body1="upper{i}" body2="top" anchor="0 0 {length / 2:.17g}"/>')
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    joints += "".join(f'<joint axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    top = f'<body name="top" pos="0.1 0 1.2">{joints}<inertial pos="0 0 0.05" mass="5" diaginertia="0.3 0.3 0.5"/></body>'
    return f'<mujoco model="stewart"><worldbody>{"".join(legs)}{top}</worldbody><equality>{"".join(closures)}</equality></mujoco>'


def three_rrr():
    """Three legs of two links in a plane; the platform hangs on the first, the others hold it by pins."""
    inertial = '<inertial pos="{x} 0 0" mass="1" diaginertia="0.001 0.02 0.02"/>'
    corner = [0.3 * np.array([math.cos(a), math.sin(a)]) for a in (math.pi * 7 / 6, -math.pi / 6, math.pi / 2)]
    center = np.array([0.05, 0.02])
    legs, closures = [], []
    for i, foot in enumerate(1.1 * np.array([math.cos(a), math.sin(a)]) for a in (math.pi * 7 / 6, -math.pi / 6, math.pi / 2)):
        reach = center + corner[i] - foot
        distance, heading = np.linalg.norm(reach), math.atan2(reach[1], reach[0])
        bend = math.acos(distance / 2 / 0.6)
        frame = lambda angle: numbers([math.cos(angle / 2), 0, 0, math.sin(angle / 2)])
        platform = ""
        if i == 0:
            platform = (
                f'<body name="platform" pos="0.6 0 0" quat="{frame(bend - heading)}"><joint axis="0 0 1"/>'
                f'<inertial pos="{numbers(-corner[0])} 0" mass="2" diaginertia="0.02 0.02 0.04"/></body>'
            )
        legs.append(
            f'<body name="near{i}" pos="{numbers(foot)} 0" quat="{frame(heading + bend)}"><joint axis="0 0 1"/>'
            + inertial.format(x=0.3)
            + f'<body name="far{i}" pos="0.6 0 0" quat="{frame(-2 * bend)}"><joint axis="0 0 1"/>'
            + inertial.format(x=0.3)
            + f"{platform}</body></body>"
        )
        if i > 0:
            closures.append(f'<connect name="pin{i}" body1="far{i}" body2="platform" anchor="0.6 0 0"/>')
    return (
        '<mujoco model="3rrr"><option gravity="0 -9.81 0"/>'
        f'<worldbody>{"".join(legs)}</worldbody><equality>{"".join(closures)}</equality></mujoco>'
    )


def load(path):
    """The model with constraints as stiff as MuJoCo lets them be, and nothing else that bends the motion."""
    model = mujoco.MjModel.from_xml_path(str(path))
    off = mujoco.mjtDisableBit
    model.opt.disableflags = int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EULERDAMP)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.tolerance = 0
    model.opt.iterations = 200
    model.eq_solref[:] = [2 * model.opt.timestep, 1]
    return model


def stiff(model, data):
    """Accelerations with the largest impedance, and without compliance."""
    found = []
    for d in IMPEDANCES:
        model.eq_solimp[:] = [d, d, 0.001, 0.5, 2]
        mujoco.mj_forward(model, data)
        found.append(data.qacc.copy())
    one, two = ((1 - d) / d for d in IMPEDANCES)
    return found[0], (two * found[0] - one * found[1]) / (two - one)


def constraints(model, data):
    mujoco.mj_forward(model, data)
    return data.efc_J.reshape(data.nefc, model.nv).copy(), data.efc_pos.copy()


def closed_states(model):
    """Random states about the initial one, loops closed, with velocities that keep them so."""
    random = np.random.default_rng(1)
    data = mujoco.MjData(model)

    def close():
        for _ in range(100):
            J, gap = constraints(model, data)
            if np.abs(gap).max() < 1e-13:
                return True
            step = np.linalg.pinv(J, rcond=1e-6) @ gap
            data.qpos[:] -= step / max(1, np.abs(step).max() / 0.3)
        return False

    start = data.qpos.copy()
    while not close():  # as where the file's configuration is far from closed
        data.qpos[:] = start + random.uniform(-1, 1, model.nq)
    start = data.qpos.copy()
    for _ in range(STATES):
        data.qpos[:] = start + random.uniform(-0.1, 0.1, model.nq)
        data.qvel[:] = 0
        if not close():
            sys.exit("closed: a state's loops do not close")
        J, _ = constraints(model, data)
        v = random.uniform(-1, 1, model.nv)
        data.qvel[:] = v - np.linalg.pinv(J, rcond=1e-6) @ (J @ v)
        data.qfrc_applied[:] = random.uniform(-10, 10, model.nv)
        yield data.qpos.copy(), data.qvel.copy(), data.qfrc_applied.copy(), stiff(model, data)


def largest_difference(program, path):
    """Over all states, relative to the largest acceleration of each: as it is, and without compliance; with all
    equations and their rank."""
    model = load(path)
    states = list(closed_states(model))
    lines = "".join(json.dumps({"q": list(q), "v": list(v), "tau": list(tau)}) + "\n" for q, v, tau, _ in states)
    command = [program, "eval", str(path), "--want", "closed_fd", "--states", "-"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"closed: {done.stderr.strip()}")
    apart = np.zeros(2)
    for line, (_, _, _, theirs) in zip(done.stdout.splitlines(), states):
        ours = json.loads(line)["closed_fd"]
        off = [np.abs(np.array(ours["a"]) - each).max() / np.abs(each).max() for each in theirs]
        apart = np.maximum(apart, off)
    return apart, ours["rows"], ours["rank"], model.nv


def main():
    options = arguments()
    if options.parts and "mujoco" not in options.parts:
        return
    print(
        f"\nAccelerations against MuJoCo {mujoco.__version__} at {STATES} closed states: equality constraints with "
        f"impedance {IMPEDANCES[0]}, and what that and\n{IMPEDANCES[1]} come to without compliance.\n\n"
        f"{'system':<14}{'dof':>4}{'rows':>6}{'rank':>6}{'apart':>10}{'without':>10}"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        files = {"four_bar.xml": options.source / "models/four_bar.xml"}
        for name, text in (("stewart", stewart()), ("3rrr", three_rrr())):
            files[name] = Path(folder) / f"{name}.xml"
            files[name].write_text(text)
        for name, path in files.items():
            apart, count, rank, nv = largest_difference(options.program, path)
            print(f"{name:<14}{nv:>4}{count:>6}{rank:>6}{apart[0]:>10.1e}{apart[1]:>10.1e}", flush=True)
            rows.append(
                {
                    "robot": name,
                    "quantity": "closed_fd",
                    "peer": f"mujoco {mujoco.__version__}",
                    "apart": apart[0],
                    "apart_without_compliance": apart[1],
                }
            )
            if not apart[1] <= TOLERANCE:
                sys.exit(f"closed: {name}: Bunraku and MuJoCo are {apart[1]:.1e} apart: one of them is wrong")
    if options.json:
        figures = json.loads(options.json.read_text() or "{}")
        figures["mujoco"] = {"rows": rows}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
