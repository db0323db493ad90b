"""Rollouts of Bunraku, of MuJoCo's mujoco.batch and of MJX on JAX: the same robot, start, torques, integrator and step.

Started by benchmarks/batch.sh with the benchmark's own arguments. The benchmark's program writes the robot and the start
of every trajectory into a folder, and then rolls out whenever it is asked to: so the sides take turns, and the least
time counts. Single threads are timed by the processor's clock, several by the one on the wall, on all sides.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

import mujoco
import mujoco.batch
import numpy as np

TOLERANCE = 1e-8  # rad and rad/s, in double, over the whole trajectory
LEAST_ROUNDS = 5
JAX_LIMIT = 600  # seconds: to compile takes most of them
REQUIREMENTS = Path(__file__).with_name("requirements-jax.txt")


def arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--program")
    parser.add_argument("--mjx", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--models")
    parser.add_argument("--parts", nargs="+", default=[])
    parser.add_argument("--robots", nargs="+", default=[])
    parsed, _ = parser.parse_known_args()  # batch_bench has refused what is wrong
    parsed.parts = [name for names in parsed.parts for name in names.split(",")]
    parsed.threads = parsed.threads or len(os.sched_getaffinity(0))
    return parsed


class Skipped(Exception):
    """Why something is not measured."""


class Bunraku:
    """The benchmark's program, waiting to be asked for rollouts."""

    def __init__(self, options, folder):
        command = [options.program, "--serve", folder]
        if options.models:
            command += ["--models", options.models]
        if options.robots:
            command += ["--robots", ",".join(options.robots)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.setting = json.loads(self._answer())

    def seconds(self, precision, threads):
        self.process.stdin.write(f"{precision} {threads}\n")
        self.process.stdin.flush()
        return float(self._answer()) * 1e-9

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise Skipped("the benchmark's program has ended, see above")
        return line


def load_model(folder, step):
    """The robot as MuJoCo reads it, reduced to what Bunraku's rollouts do: no limits, contacts or passive forces, and
    Euler's method that is implicit in nothing but the velocity."""
    model = mujoco.MjModel.from_xml_path(str(folder / "robot.urdf"))
    off = mujoco.mjtDisableBit
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags = int(
        off.mjDSBL_CONSTRAINT
        | off.mjDSBL_CONTACT
        | off.mjDSBL_SPRING
        | off.mjDSBL_DAMPER
        | off.mjDSBL_EULERDAMP
        | off.mjDSBL_ACTUATION
        | off.mjDSBL_SENSOR
    )
    return model


def load_start(folder, steps):
    q, v, torques = (np.load(folder / f"{name}.npy") for name in ("q", "v", "torques"))
    return q, v, torques.reshape(len(q), steps, -1)


class Mujoco:
    """mujoco.batch; its numbers are doubles."""

    def __init__(self, model, start, threads):
        self.q, self.v, self.torques = start
        self.threads = threads
        self.out = None
        # threads on cores of their own, as Spread of benchmarks/meter.hpp has it for Bunraku
        self.cores = sorted(os.sched_getaffinity(0))
        if threads > 1:
            os.sched_setaffinity(0, self.cores[1:] or self.cores)
        self.batch = mujoco.batch.Batch(model, nsim=len(self.q), nthread=threads)
        self.seconds()
        os.sched_setaffinity(0, self.cores[:1])

    def close(self):
        os.sched_setaffinity(0, self.cores)

    def seconds(self):
        self.batch.bind("qpos")[:] = self.q
        self.batch.bind("qvel")[:] = self.v
        processor, wall = time.thread_time(), time.perf_counter()
        self.out = self.batch.rollout(
            self.torques.shape[1],
            self.torques,
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
            record=("qpos", "qvel"),
            out=self.out,
        )
        processor, wall = time.thread_time() - processor, time.perf_counter() - wall
        return min(processor, wall) if self.threads == 1 else wall


def least(seconds, *sides):
    """The least time of each side, the sides in turn."""
    best = [float("inf")] * len(sides)
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < LEAST_ROUNDS or time.perf_counter() < end:
        best = [min(b, side()) for b, side in zip(best, sides)]
        rounds += 1
    return best


def largest_difference(folder, precision, q, v):
    """Of Bunraku's trajectories to these: in q, in v."""
    ours = (np.load(folder / f"out_{name}_{precision}.npy").reshape(q.shape) for name in ("q", "v"))
    return tuple(float(np.abs(a - b).max()) for a, b in zip(ours, (q, v)))


def roll_out_with_mjx(folder):
    """In a process of its own: prints the least time and writes the trajectories."""
    # XLA's newer code generator computes the pose of a link anew for each number of it that is used, and so that of the
    # links before: with it a step takes milliseconds.
    os.environ["XLA_FLAGS"] = "--xla_cpu_use_fusion_emitters=false"
    import jax
    from mujoco import mjx

    setting = json.loads((folder / "setting.json").read_text())
    model = load_model(folder, setting["step"])
    on_device = mjx.put_model(model)
    blank = mjx.make_data(model)

    def trajectory(q, v, torques):
        def advance(state, torque):
            data = mjx.step(on_device, blank.replace(qpos=state[0], qvel=state[1], qfrc_applied=torque))
            return (data.qpos, data.qvel), (data.qpos, data.qvel)

        return jax.lax.scan(advance, (q, v), torques)[1]

    start = [jax.numpy.asarray(x, jax.numpy.float32) for x in load_start(folder, setting["steps"])]
    run = jax.jit(jax.vmap(trajectory)).lower(*start).compile()

    def seconds():
        begin = time.perf_counter()
        jax.block_until_ready(run(*start))
        return time.perf_counter() - begin

    (best,) = least(setting["seconds"], seconds)
    for name, numbers in zip(("q", "v"), run(*start)):
        np.save(folder / f"mjx_{name}.npy", np.asarray(numbers))
    print(json.dumps({"seconds": best}))


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def need_jax():
    """Installs JAX beside the other peers, where that can be done."""
    try:
        for line in REQUIREMENTS.read_text().splitlines():
            if line and not line.startswith("#"):
                name, version = line.split("==")
                if metadata.version(name) != version:
                    raise metadata.PackageNotFoundError
    except metadata.PackageNotFoundError:
        print("installing JAX and MJX", file=sys.stderr)
        install = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r", REQUIREMENTS]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Skipped(f"MJX cannot be installed: {last_line(done.stderr)}") from None


def mjx_seconds(folder):
    need_jax()
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--mjx", folder], capture_output=True, text=True, check=False, timeout=JAX_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise Skipped(f"MJX took more than {JAX_LIMIT} s to compile and run") from None
    if done.returncode:
        raise Skipped(f"MJX failed: {last_line(done.stderr)}")
    return json.loads(last_line(done.stdout))["seconds"]


class Table:
    """Rows, printed as they come and kept as the benchmark's file has them."""

    def __init__(self, setting):
        self.setting = setting
        self.rows = []
        self.summary = {}
        print(
            f"\n{setting['states']} rollouts of {setting['steps']} steps of {setting['step']} s of {setting['robot']}, "
            "semi-implicit Euler: least nanoseconds a step of one\n"
            "trajectory, and the largest difference of any angle and velocity on the way.\n\n"
            f"{'':<8}{'threads':>7}{'ours':>9}{'peer':>9}  {'':<34}{'ratio':>7}{'rad':>10}{'rad/s':>10}",
            flush=True,
        )

    def add(self, precision, threads, ours, peer, theirs, difference, key):
        steps = self.setting["states"] * self.setting["steps"]
        ours, theirs = (seconds * 1e9 / steps for seconds in (ours, theirs))
        row = {
            "robot": self.setting["robot"],
            "quantity": "rollout",
            "precision": precision,
            "threads": threads,
            "states": self.setting["states"],
            "ours_ns": round(ours, 2),
            "peer": peer,
            "peer_ns": round(theirs, 2),
            "ratio": round(theirs / ours, 4),
            "difference": max(difference),
        }
        self.rows.append(row)
        self.summary[key] = row["ratio"]
        print(
            f"{precision:<8}{threads:>7}{ours:>9.1f}{theirs:>9.1f}  {peer:<34}{theirs / ours:>7.1f}"
            f"{difference[0]:>10.1e}{difference[1]:>10.1e}",
            flush=True,
        )

    def write(self, path):
        figures = json.loads(path.read_text()) if path.stat().st_size else {"rows": [], "summary": {}}
        figures["rows"] += self.rows
        figures["summary"] |= self.summary
        rows = ",\n".join("    " + json.dumps(row) for row in figures.pop("rows"))
        rest = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in figures.items())
        path.write_text(f'{{\n  "rows": [\n{rows}\n  ],\n{rest}\n}}\n')


def measure_mujoco(options, folder, bunraku, table):
    setting = bunraku.setting
    model = load_model(folder, setting["step"])
    peer = f"mujoco.batch {mujoco.__version__}"
    for threads in sorted({1, options.threads}):
        theirs = Mujoco(model, load_start(folder, setting["steps"]), threads)
        sides = [theirs.seconds]
        precisions = ("double", "float")
        sides += [lambda p=p: bunraku.seconds(p, threads) for p in precisions]
        times = least(options.seconds, *sides)
        theirs.close()
        for precision, ours in zip(precisions, times[1:]):
            difference = largest_difference(folder, precision, theirs.out["qpos"], theirs.out["qvel"])
            if precision == "double" and not max(difference) <= TOLERANCE:
                sys.exit(
                    f"batch: the trajectories of Bunraku and MuJoCo are {max(difference):.2g} apart. One of them is "
                    "wrong, and its speed is worth nothing"
                )
            key = f"rollout_{precision}" + (f"_on_{threads}" if threads > 1 else "")
            table.add(precision, threads, ours, peer, times[0], difference, key)


def measure_mjx(options, folder, bunraku, table):
    (folder / "setting.json").write_text(json.dumps(bunraku.setting | {"seconds": options.seconds}))
    theirs = mjx_seconds(folder)
    (ours,) = least(options.seconds, lambda: bunraku.seconds("float", options.threads))
    difference = largest_difference(folder, "float", *(np.load(folder / f"mjx_{name}.npy") for name in ("q", "v")))
    peer = f"MJX {metadata.version('mujoco-mjx')}, JAX {metadata.version('jax')}"
    table.add("float", options.threads, ours, peer, theirs, difference, "rollout_float_mjx")


def main():
    options = arguments()
    if options.mjx:
        roll_out_with_mjx(options.mjx)
        return
    if options.parts and "rollouts" not in options.parts:
        return
    table = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            bunraku = Bunraku(options, folder)
            table = Table(bunraku.setting)
            measure_mujoco(options, Path(folder), bunraku, table)
            measure_mjx(options, Path(folder), bunraku, table)
        except Skipped as reason:
            print(f"batch: rollouts are skipped: {reason}", file=sys.stderr)
    if options.json and table:
        table.write(options.json)


if __name__ == "__main__":
    main()
