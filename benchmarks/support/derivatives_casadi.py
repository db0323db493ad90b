#!/usr/bin/env python3
"""Derivatives of inverse and forward dynamics as C code that CasADi generates, timed: a line for each robot.

Newton and Euler's recursion and that of the articulated bodies are written out in CasADi's scalars, differentiated by
CasADi (its choice of modes, tangent coordinates as everywhere here), and compiled. The numbers are held to Pinocchio's.
"""

import argparse
import ctypes
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import casadi as ca
import numpy as np
import pinocchio as pin

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
FREE = {"hyq", "anymal_b", "atlas", "simple_humanoid"}
FLAGS = ["-O2", "-march=native", "-ffast-math"]
LARGEST = 100_000  # instructions of CasADi's: the compiler's time grows faster than they do, minutes at this size

HARNESS = r"""
#include <time.h>
double least_seconds(const double* x, int n, int states, int rounds, double* out) {
  static casadi_real w[%(w)d + 1]; static casadi_int iw[%(iw)d + 1];
  double least = 1e9;
  for (int r = 0; r < rounds; ++r) {
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (int s = 0; s < states; ++s) {
      const casadi_real* arg[] = {x + (long)s * n}; casadi_real* res[] = {out};
      derivatives(arg, res, iw, w, 0);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    const double t = ((b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec)) / states;
    if (t < least) least = t;
  }
  return least;
}
"""


def rotation(quaternion):
    x, y, z, w = ca.vertsplit(quaternion)
    return ca.blockcat([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def cross6(a):
    """a × of motions, linear over angular."""
    return ca.blockcat([[ca.skew(a[3:]), ca.skew(a[:3])], [ca.SX(3, 3), ca.skew(a[3:])]])


class Robot:
    """A tree of hinges of one degree of freedom, on the world or on a free base."""

    def __init__(self, path, free_base):
        self.model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if free_base else []))
        self.links = []
        for i in range(1, self.model.njoints):
            joint = self.model.joints[i]
            data = joint.createData()
            joint.calc(data, pin.neutral(self.model))
            self.links.append((self.model.parents[i] - 1, self.model.jointPlacements[i],
                               np.array(data.S).reshape(6, -1), self.model.inertias[i].matrix(), joint))

    def pose(self, joint, S, q, way):
        """Rotation and place of a hinge at q moved by `way`, to first order."""
        own = q[joint.idx_q:joint.idx_q + joint.nq]
        u = way[joint.idx_v:joint.idx_v + joint.nv]
        if joint.nv == 6:
            R = rotation(own[3:])
            return R @ (ca.SX.eye(3) + ca.skew(u[3:])), own[:3] + R @ u[:3]
        angle = own + u
        if joint.nq == 2:  # Pinocchio's hinges without limits: cosine and sine
            cosine, sine = own[0] - u * own[1], own[1] + u * own[0]
        else:
            cosine, sine = ca.cos(angle), ca.sin(angle)
        axis = ca.DM(S[3:, 0])
        if np.linalg.norm(S[3:]) == 0:
            return ca.SX.eye(3), ca.DM(S[:3, 0]) * angle
        K = ca.skew(axis)
        return ca.SX.eye(3) + sine * K + (1 - cosine) * K @ K, ca.SX(3, 1)

    def transforms(self, q, way):
        """6×6 of each link, motions of the parent to its own."""
        out = []
        for _, placement, S, _, joint in self.links:
            R, p = self.pose(joint, S, q, way)
            R, p = ca.DM(placement.rotation) @ R, ca.DM(placement.rotation) @ p + ca.DM(placement.translation)
            out.append(ca.blockcat([[R.T, -R.T @ ca.skew(p)], [ca.SX(3, 3), R.T]]))
        return out

    def inverse(self, X, v, a):
        gravity = ca.DM(np.concatenate([-self.model.gravity.linear, np.zeros(3)]))
        V, A, f = [], [], []
        for (parent, _, S, M, joint), x in zip(self.links, X):
            S = ca.DM(S)
            rate = S @ v[joint.idx_v:joint.idx_v + joint.nv]
            V.append((x @ V[parent] if parent >= 0 else ca.SX(6, 1)) + rate)
            A.append(x @ (A[parent] if parent >= 0 else gravity) + S @ a[joint.idx_v:joint.idx_v + joint.nv] +
                     cross6(V[-1]) @ rate)
            M = ca.DM(M)
            f.append(M @ A[-1] - cross6(V[-1]).T @ (M @ V[-1]))
        torque = [None] * len(f)
        for k in reversed(range(len(f))):
            parent, _, S, _, _ = self.links[k]
            torque[k] = ca.DM(S).T @ f[k]
            if parent >= 0:
                f[parent] = f[parent] + X[k].T @ f[k]
        return ca.vertcat(*torque)

    def forward(self, X, v, tau):
        gravity = ca.DM(np.concatenate([-self.model.gravity.linear, np.zeros(3)]))
        V, c, P, p = [], [], [], []
        for (parent, _, S, M, joint), x in zip(self.links, X):
            rate = ca.DM(S) @ v[joint.idx_v:joint.idx_v + joint.nv]
            V.append((x @ V[parent] if parent >= 0 else ca.SX(6, 1)) + rate)
            c.append(cross6(V[-1]) @ rate)
            P.append(ca.SX(ca.DM(M)))
            p.append(-cross6(V[-1]).T @ (ca.DM(M) @ V[-1]))
        U, D, u = [None] * len(P), [None] * len(P), [None] * len(P)
        for k in reversed(range(len(P))):
            parent, _, S, _, joint = self.links[k]
            S = ca.DM(S)
            U[k] = P[k] @ S
            D[k] = S.T @ U[k]
            u[k] = tau[joint.idx_v:joint.idx_v + joint.nv] - S.T @ p[k]
            if parent >= 0:
                G = U[k] / D[k]
                Pa = P[k] - G @ U[k].T
                pa = p[k] + Pa @ c[k] + G @ u[k]
                P[parent] = P[parent] + X[k].T @ Pa @ X[k]
                p[parent] = p[parent] + X[k].T @ pa
        A, out = [], []
        for k, (parent, _, S, _, joint) in enumerate(self.links):
            a = X[k] @ (A[parent] if parent >= 0 else gravity) + c[k]
            rhs = u[k] - U[k].T @ a
            own = ca.solve(D[k], rhs) if joint.nv > 1 else rhs / D[k]
            A.append(a + ca.DM(S) @ own)
            out.append(own)
        return ca.vertcat(*out)

    def derivatives(self, what):
        """The three matrices as a function of (q, v, x) in one vector."""
        m = self.model
        q, v, x, way = ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv), ca.SX.sym("x", m.nv), ca.SX.sym("d", m.nv)
        y = getattr(self, what)(self.transforms(q, way), v, x)
        matrices = [ca.densify(ca.substitute(ca.jacobian(y, z), way, 0)) for z in (way, v, x)]
        return ca.Function("derivatives", [ca.vertcat(q, v, x)], [ca.simplify(ca.horzcat(*matrices))],
                           {"cse": True})


def states_of(model, count):
    random = np.random.default_rng(1)
    out = []
    for _ in range(count):
        q = pin.integrate(model, pin.neutral(model), random.uniform(-1, 1, model.nv))
        out.append(np.concatenate([q, random.uniform(-1, 1, model.nv), random.uniform(-1, 1, model.nv)]))
    return np.array(out)


def reference(model, what, state):
    q, v, x = np.split(state, [model.nq, model.nq + model.nv])
    data = model.createData()
    if what == "inverse":
        dq, dv, da = pin.computeRNEADerivatives(model, data, q, v, x)
        return np.hstack([dq, dv, np.triu(da) + np.triu(da, 1).T])
    dq, dv, dt = pin.computeABADerivatives(model, data, q, v, x)
    return np.hstack([dq, dv, np.triu(dt) + np.triu(dt, 1).T])


def measure(function, states, seconds):
    """Least nanoseconds of a call, and the matrices at the last state."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "derivatives.c")
        function.generate("derivatives.c", {"with_header": False})
        pathlib.Path("derivatives.c").replace(source)
        source.write_text(source.read_text() + HARNESS % {"w": function.sz_w(), "iw": function.sz_iw()})
        library = pathlib.Path(folder, "derivatives.so")
        subprocess.run(["gcc", *FLAGS, "-fPIC", "-shared", source, "-o", library], check=True)
        code = ctypes.CDLL(str(library))
        code.least_seconds.restype = ctypes.c_double
        pointer = ctypes.POINTER(ctypes.c_double)
        out = np.zeros(function.size_out(0), order="F")
        x = np.ascontiguousarray(states)

        def run(rounds):
            return code.least_seconds(x.ctypes.data_as(pointer), x.shape[1], x.shape[0], rounds,
                                      out.ctypes.data_as(pointer))

        rounds = max(5, int(seconds / max(run(3) * len(states), 1e-9)))
        return 1e9 * run(rounds), out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, default=SOURCE.parent / "shared/models")
    parser.add_argument("--robots", default="iiwa,panda,hyq,anymal_b,atlas,simple_humanoid")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--states", type=int, default=64)
    parser.add_argument("--json", type=pathlib.Path)
    options, _ = parser.parse_known_args()  # the others are the program's
    print(f"CasADi {ca.__version__}, its C code compiled with gcc {' '.join(FLAGS)}; least nanoseconds of a call")
    print(f"{'robot':<16}{'quantity':<9}{'instructions':>13}{'ns':>13}{'compiled in':>13}")
    rows = []
    for name in options.robots.split(","):
        path = next((p for p in (options.models / "urdf" / f"{name}.urdf", options.models / f"{name}.urdf")
                     if p.is_file()), None)
        if path is None:
            print(f"{name}: not in {options.models}", file=sys.stderr)
            continue
        robot = Robot(path, name in FREE)
        states = states_of(robot.model, options.states)
        for what in ("inverse", "forward"):
            function = robot.derivatives(what)
            size = function.n_instructions()
            row = {"robot": name, "quantity": {"inverse": "id", "forward": "fd"}[what], "instructions": size}
            if size > LARGEST:
                print(f"{name:<16}{row['quantity']:<9}{size:>13}{'too large to compile':>26}", flush=True)
                rows.append(row)
                continue
            start = time.time()
            ns, ours = measure(function, states, options.seconds)
            theirs = reference(robot.model, what, states[-1])
            apart = np.abs(ours - theirs).max() / np.abs(theirs).max()
            if not apart < 1e-7:
                sys.exit(f"{name}, {what}: {apart:.1e} from Pinocchio's: nothing was measured")
            print(f"{name:<16}{row['quantity']:<9}{size:>13}{ns:>13.0f}{math.ceil(time.time() - start):>11} s",
                  flush=True)
            rows.append(row | {"ns": ns})
    if options.json:
        figures = json.loads(options.json.read_text()) if options.json.is_file() else {}
        options.json.write_text(json.dumps(figures | {"casadi": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
