"""Flexible bodies against Exudyn: the same nodes, masses and modes in its reduced-order floating frame, and the same
beam in another theory, its cable elements by absolute nodal coordinates.

Started by benchmarks/flexible.sh with the benchmark's own arguments. Bunraku flies in the benchmark's program, which
answers one line with another: see serve_flexible of benchmarks/flexible_parts.hpp.
"""

import argparse
import contextlib
import io
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.exudynFast = True  # its module without checks of ranges, with AVX2 where there is that
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn as exu
    import exudyn.itemInterface as eii
    from exudyn.beams import GenerateBeamElementsAlongLine
    from exudyn.rigidBodyUtilities import ComputeSkewMatrix, GetRigidBodyNode

# The same model
TOLERANCE = 1e-9  # m, of places of nodes without the error of Exudyn's steps
SHRINKING = (3.5, 4.5)  # by how much a half step makes that error smaller
SPIN = (1.5, 9.0, 6.0)  # rad/s
FLIGHT = 0.5  # s
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
OUR_STEPS = 1000
MODES = 5
TIMED_MODES = (5, 10, 20)
LEAST_RATIO = 10
LEAST_ROUNDS = 5

# Another theory
BENDING = (4.0, 8.0, 16.0, 32.0)  # N·m², of pendulums of 1 m and 1 kg
PENDULUM = {"end": 2.0, "steps": 16000, "samples": 200, "modes": 8, "elements": 16, "stretch": 1e7}
SQUARE = 0.5  # at most so many (w/L)² apart, with foreshortening
LINEAR = 0.1  # at least so many w/L apart without
SPIN_UP = {"end": 20.0, "steps": 20000, "samples": 2000, "modes": 3, "elements": 8, "stretch": 2.8e7, "step": 5e-4}
LENGTH, MASS_PER_LENGTH, STIFFNESS = 10.0, 1.2, 1.4e4  # of the beam that spins up
SPIN_UP_TOLERANCE = 3e-3  # m, of a tip that goes 0.57 m


def arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--program", required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--parts", nargs="+", default=[])
    parsed, _ = parser.parse_known_args()  # flexible_bench has refused what is wrong
    parsed.parts = [name for names in parsed.parts for name in names.split(",")]
    return parsed


class Bunraku:
    """The benchmark's program."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("flexible: the benchmark's program has ended, see above")
        return np.array(line.split(), dtype=float)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---------------------------------------------------------------------------------------------------- the same model


class Boom:
    """A tapered truss of 16 nodes with a mass each, 1.5 m long, about its centre of mass, and its lowest free modes."""

    def __init__(self, modes):
        corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        self.place = np.array(
            [(0.5 * i, a * (0.08 - 0.012 * i), b * (0.072 - 0.0108 * i)) for i in range(4) for a, b in corners]
        )
        self.mass = np.array([0.2 + 0.02 * ((3 * i + 5 * k) % 7) for i in range(4) for k in range(4)])
        self.place -= self.mass @ self.place / self.mass.sum()
        bars = []
        for s in (0, 4, 8, 12):
            bars += [(s, s + 1), (s + 1, s + 2), (s + 2, s + 3), (s + 3, s), (s, s + 2)]
            if s < 12:
                bars += [(s + k, s + 4 + k) for k in range(4)] + [(s + k, s + 4 + (k + 1) % 4) for k in range(4)]
        stiffness = np.zeros((48, 48))
        for a, b in bars:
            along = self.place[b] - self.place[a]
            length = np.linalg.norm(along)
            block = 1.2e4 / length**3 * np.outer(along, along)
            for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
                stiffness[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += sign * block
        root = 1 / np.sqrt(np.repeat(self.mass, 3))
        squares, shapes = np.linalg.eigh(root[:, None] * stiffness * root)
        self.stiffness = squares[6 : 6 + modes]  # the first six move it as a whole
        self.shapes = root[:, None] * shapes[:, 6 : 6 + modes]  # of modal masses 1

    @property
    def modes(self):
        return len(self.stiffness)

    def write(self, path):
        def row(word, *values):
            return word + "".join(f" {float(x):.17g}" for x in values)

        lines = [f"modes {self.modes}", row("spin", *SPIN), row("stiffness", *self.stiffness)]
        for j, (mass, place) in enumerate(zip(self.mass, self.place)):
            lines.append(row("node", mass, *place, *self.shapes[3 * j : 3 * j + 3].T.flatten()))
        path.write_text("\n".join(lines) + "\n")


class FloatingFrame:
    """The boom in Exudyn, as ObjectFFRFreducedOrderInterface of exudyn.FEM would hand it over."""

    def __init__(self, boom, rotation):
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.nodes = len(boom.mass)
        n = boom.modes
        M = np.diag(np.repeat(boom.mass, 3))
        all_alike = np.tile(np.eye(3), (self.nodes, 1))
        x = boom.place.flatten()
        X, shapes, turned = ComputeSkewMatrix(x), boom.shapes, ComputeSkewMatrix(boom.shapes)
        frame = self.system.AddNode(
            GetRigidBodyNode(
                nodeType=rotation,
                position=[0, 0, 0],
                velocity=[0, 0, 0],
                rotationMatrix=np.eye(3),
                angularVelocity=list(SPIN),
            )
        )
        modes = self.system.AddNode(
            eii.NodeGenericODE2(
                numberOfODE2Coordinates=n,
                referenceCoordinates=[0] * n,
                initialCoordinates=[0] * n,
                initialCoordinates_t=[0] * n,
            )
        )

        def container(matrix):
            out = exu.MatrixContainer()
            out.SetWithDenseMatrix(matrix, useDenseMatrix=False)
            return out

        self.body = self.system.AddObject(
            eii.ObjectFFRFreducedOrder(
                nodeNumbers=[frame, modes],
                stiffnessMatrixReduced=container(np.diag(boom.stiffness)),
                massMatrixReduced=container(np.eye(n)),
                dampingMatrixReduced=[],
                modeBasis=shapes,
                referencePositions=x,
                mass=boom.mass.sum(),
                inertia=X.T @ M @ X,
                centerOfMass=all_alike.T @ M @ x / boom.mass.sum(),
                mPsiTildePsi=turned.T @ M @ shapes,
                mPsiTildePsiTilde=turned.T @ M @ turned,
                mPhitTPsi=all_alike.T @ M @ shapes,
                mPhitTPsiTilde=all_alike.T @ M @ turned,
                mXRefTildePsi=X.T @ M @ shapes,
                mXRefTildePsiTilde=X.T @ M @ turned,
                computeFFRFterms=True,
            )
        )
        self.system.Assemble()

    def solve(self, solver, end, steps):
        """Returns the seconds of the processor that it took."""
        settings = exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.numberOfSteps = steps
        integration.endTime = end
        integration.newton.relativeTolerance = 1e-10
        integration.newton.absoluteTolerance = 1e-12
        integration.newton.useModifiedNewton = False
        integration.generalizedAlpha.useIndex2Constraints = True
        integration.explicit.computeEndOfStepAccelerations = False
        settings.solution.file.write = False
        began = time.process_time()
        self.system.SolveDynamic(settings, solverType=solver)
        return time.process_time() - began

    def places(self):
        of = exu.OutputVariableType.Position
        return np.array([self.system.GetObjectOutputSuperElement(self.body, of, j) for j in range(self.nodes)])


def flight(boom, solver, rotation, step):
    body = FloatingFrame(boom, rotation)
    body.solve(solver, FLIGHT, round(FLIGHT / step))
    return body.places()


def extrapolated(coarse, fine, order):
    """What two results, one with half the step of the other, come to without steps."""
    return fine + (fine - coarse) / (2**order - 1)


def compare_flights(bunraku, folder):
    boom = Boom(MODES)
    boom.write(folder / "boom.txt")
    nodes, modes, _ = bunraku.ask("body", folder / "boom.txt")
    coarse, fine = (bunraku.ask("fly", FLIGHT, n).reshape(-1, 3) for n in (OUR_STEPS, 2 * OUR_STEPS))
    ours = extrapolated(coarse, fine, 4)
    hertz = np.sqrt(boom.stiffness) / 2 / math.pi
    print(
        f"\nThe same body in Exudyn {exu.__version__}: a truss boom of {nodes:.0f} nodes and {modes:.0f} modes, "
        f"{hertz[0]:.1f} to {hertz[-1]:.1f} Hz, in free flight with\n{np.linalg.norm(SPIN):.1f} rad/s for {FLIGHT} s. "
        "Largest distance of a node, m, to Bunraku's place without steps, of which half a step\n"
        f"of {FLIGHT / OUR_STEPS:g} s makes out {np.abs(fine - ours).max():.1e}; and what two steps of Exudyn come to "
        f"without steps.\n\n{'step':>10}{'trapezoidal':>14}{'by':>7}{'without':>10}{'RK44':>14}{'by':>7}{'without':>10}"
    )
    ways = (  # solver, rotation, order
        (exu.DynamicSolverType.TrapezoidalIndex2, exu.NodeType.RotationEulerParameters, 2),
        (exu.DynamicSolverType.RK44, exu.NodeType.RotationRotationVector, 4),
    )
    rows, before = [], None
    for step in STEPS:
        found = [flight(boom, solver, rotation, step) for solver, rotation, _ in ways]
        apart = [np.abs(each - ours).max() for each in found]
        row = {"step": step, "trapezoidal": apart[0], "rk44": apart[1]}
        line = f"{step:>10g}"
        for i, (name, (_, _, order)) in enumerate(zip(("trapezoidal", "rk44"), ways)):
            line += f"{apart[i]:>14.1e}"
            if before is None:
                line += f"{'':>17}"
            else:
                row[f"{name}_by"] = rows[-1][name] / apart[i]
                row[f"{name}_without"] = np.abs(extrapolated(before[i], found[i], order) - ours).max()
                line += f"{row[f'{name}_by']:>7.2f}{row[f'{name}_without']:>10.1e}"
        print(line, flush=True)
        rows.append(row)
        before = found
    last = rows[-1]
    if not last["trapezoidal_without"] <= TOLERANCE:
        sys.exit(f"flexible: Bunraku and Exudyn are {last['trapezoidal_without']:.1e} m apart: one of them is wrong")
    if not all(SHRINKING[0] <= row["trapezoidal_by"] <= SHRINKING[1] for row in rows[1:]):
        sys.exit("flexible: the distance does not shrink with the square of Exudyn's step: more than steps is in it")
    return rows


def compare_times(bunraku, folder, seconds):
    """By Exudyn's explicit solver, which does nothing in a stage but mass matrix, forces, solution and sums: two runs
    of different lengths, so that what comes before the steps falls out; the least of many, both sides in turn."""
    stages, short, more, step = 4, 1000, 10000, 1e-4
    print(
        f"\nAn evaluation of its accelerations, ns: set(q, v) and forward_dynamics, the lumps as few as can be; a "
        f"stage of Exudyn's\nexplicit solver, RK44 on the Lie group, module without checks of ranges.\n\n"
        f"{'modes':>6}{'lumps':>7}{'ours':>12}{'Exudyn':>12}{'ratio':>9}"
    )
    rows = []
    for modes in TIMED_MODES:
        boom = Boom(modes)
        boom.write(folder / "boom.txt")
        lumps = int(bunraku.ask("body", folder / "boom.txt")[2])

        def theirs():
            took = [
                FloatingFrame(boom, exu.NodeType.RotationRotationVector).solve(
                    exu.DynamicSolverType.RK44, n * step, n
                )
                for n in (short, short + more)
            ]
            return (took[1] - took[0]) / (more * stages) * 1e9

        best, end, rounds = [math.inf, math.inf], time.perf_counter() + seconds, 0
        while rounds < LEAST_ROUNDS or time.perf_counter() < end:
            best = [min(best[0], bunraku.ask("time", seconds / 10)[0]), min(best[1], theirs())]
            rounds += 1
        ratio = best[1] / best[0]
        print(f"{modes:>6}{lumps:>7}{best[0]:>12.0f}{best[1]:>12.0f}{ratio:>9.2f}", flush=True)
        rows.append({"modes": modes, "lumps": lumps, "ns": best[0], "exudyn_ns": best[1], "ratio": ratio})
    met = "met" if rows[0]["ratio"] >= LEAST_RATIO else "MISSED"
    print(f"\n{LEAST_RATIO} times as fast with {MODES} modes: {met}")
    return rows


# -------------------------------------------------------------------------------------------------- another theory


def tips_of_cable(cable, length, setup, end, step, elements, samples):
    """Places of the tip of a beam along x in cable elements, on a node that `setup` holds: times, x and y."""
    container = exu.SystemContainer()
    system = container.AddSystem()
    gravity, held = setup["gravity"], setup["held"]
    made = GenerateBeamElementsAlongLine(
        system, [0, 0, 0], [length, 0, 0], elements, cable, gravity=gravity, groundConstraintsStart=[1, 1, 0, 0]
    )
    if held:
        ground = system.AddMarker(
            eii.MarkerNodeCoordinate(nodeNumber=system.AddNode(eii.NodePointGround()), coordinate=0)
        )
        for coordinate, value in held.items():
            marker = system.AddMarker(eii.MarkerNodeCoordinate(nodeNumber=made["nodes"][0], coordinate=coordinate))
            system.AddObject(
                eii.ObjectConnectorCoordinate(
                    markerNumbers=[ground, marker],
                    offsetUserFunction=lambda mbs, t, item, offset, value=value: value(t),
                )
            )
    sensor = system.AddSensor(
        eii.SensorNode(
            nodeNumber=made["nodes"][-1], storeInternal=True, outputVariableType=exu.OutputVariableType.Position
        )
    )
    system.Assemble()
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps = round(end / step)
    integration.endTime = end
    # below 1e-8, rounding of the stiff stretch keeps the iteration from its end: steps shrink, and the result moves
    integration.newton.relativeTolerance = 1e-7
    integration.newton.absoluteTolerance = 1e-9
    integration.newton.useModifiedNewton = True
    integration.generalizedAlpha.spectralRadius = 0.9
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = end / samples
    system.SolveDynamic(settings)
    return system.GetSensorStoredData(sensor)[:, :3]


def at_times(times, end, ours):
    """Our samples, evenly spaced, at the times at which Exudyn took its own."""
    even = np.linspace(0, end, len(ours))
    return np.array([np.interp(times, even, column) for column in ours.T]).T


def compare_pendulums(bunraku):
    p = PENDULUM
    step = p["end"] / p["steps"]
    print(
        f"\nA beam of 1 m and 1 kg that falls from level about its hinge, {p['end']:g} s: {p['modes']} clamped modes "
        f"against {p['elements']} cable elements of Exudyn's,\nEA {p['stretch']:g} N, step {step:g} s. w is the "
        "largest deflection of the tip, and the rest its largest distance, over the length.\n\n"
        f"{'EI':>6}{'w/L':>11}{'(w/L)²':>11}{'linear':>11}{'/ w':>8}{'shortened':>12}{'/ w²':>8}"
    )
    rows = []
    for bending in BENDING:
        cable = eii.ObjectANCFCable2D(
            massPerLength=1, bendingStiffness=bending, axialStiffness=p["stretch"], useReducedOrderIntegration=0
        )
        theirs = tips_of_cable(
            cable, 1, {"gravity": [0, -9.81, 0], "held": {}}, p["end"], step, p["elements"], p["samples"]
        )
        apart, w = [], 0
        for shortening in (0, 1):
            ours = bunraku.ask(
                "pendulum", bending, p["modes"], shortening, p["end"], p["steps"], 10 * p["samples"]
            ).reshape(-1, 3)
            w = np.abs(ours[:, 2]).max()
            away = at_times(theirs[:, 0], p["end"], ours[:, :2]) - theirs[:, 1:]
            apart.append(np.linalg.norm(away, axis=1).max())
        print(
            f"{bending:>6g}{w:>11.2e}{w * w:>11.1e}{apart[0]:>11.1e}{apart[0] / w:>8.2f}{apart[1]:>12.1e}"
            f"{apart[1] / w**2:>8.2f}",
            flush=True,
        )
        rows.append({"EI": bending, "w": w, "linear": apart[0], "shortened": apart[1]})
    slope = np.polyfit([math.log(row["w"]) for row in rows], [math.log(row["shortened"]) for row in rows], 1)[0]
    print(f"\nexponent of w with foreshortening {slope:.2f}")
    for row in rows:
        if not row["shortened"] <= SQUARE * row["w"] ** 2:
            sys.exit(f"flexible: the pendulum with EI {row['EI']:g} is off by more than its modelling: {row}")
        if not row["linear"] >= LINEAR * row["w"]:
            sys.exit(f"flexible: the pendulum with EI {row['EI']:g} stiffens without stiffening: {row}")
    return {"rows": rows, "exponent": slope}


def hub_angle(t):
    """Up to 6 rad/s within 15 s, and steady from then on."""
    s, w = min(t, 15.0), 2 * math.pi / 15
    return 0.4 * (s * s / 2 + (math.cos(w * s) - 1) / w**2) + 6 * (t - s)


def compare_spin_up(bunraku):
    p = SPIN_UP
    ours = {
        shortening: bunraku.ask("spin", p["modes"], shortening, p["end"], p["steps"], p["samples"]).reshape(-1, 2)
        for shortening in (0, 1)
    }
    every = p["end"] / p["samples"]
    off = np.abs(ours[0][:, 1]) > 4.7 * LENGTH
    if not off.any() or len(ours[1]) != p["samples"] + 1:
        sys.exit("flexible: without stiffening the beam that spins up should be unstable, and stable with it")
    leaves = off.argmax() * every
    cable = eii.ObjectANCFCable2D(
        massPerLength=MASS_PER_LENGTH,
        bendingStiffness=STIFFNESS,
        axialStiffness=p["stretch"],
        useReducedOrderIntegration=0,
    )
    clamped = {2: lambda t: math.cos(hub_angle(t)) - 1, 3: lambda t: math.sin(hub_angle(t))}  # its slope turns
    theirs = tips_of_cable(
        cable, LENGTH, {"gravity": [0, 0, 0], "held": clamped}, p["end"], p["step"], p["elements"], p["samples"]
    )
    angle = np.array([hub_angle(t) for t in theirs[:, 0]])
    c, s = np.cos(angle), np.sin(angle)
    tip = np.array([c * theirs[:, 1] + s * theirs[:, 2] - LENGTH, c * theirs[:, 2] - s * theirs[:, 1]]).T
    away = np.linalg.norm(at_times(theirs[:, 0], p["end"], ours[1]) - tip, axis=1).max()
    here, there = ours[1][np.abs(ours[1][:, 1]).argmax(), 1], tip[np.abs(tip[:, 1]).argmax(), 1]
    print(
        f"\nA beam of {LENGTH:g} m whose hub spins up to 6 rad/s in 15 s, above its first frequency: {p['modes']} "
        f"modes against {p['elements']} elements.\n\n"
        f"without stiffening     the tip passes {4.7 * LENGTH:g} m after {leaves:.2f} s: unstable\n"
        f"with foreshortening    extreme of the tip {here:.4f} m, of Exudyn's {there:.4f} m; largest distance "
        f"{away:.1e} m,\n"
        f"                       {away / abs(there):.1%} of the extreme, {away / LENGTH:.1e} of the length, where "
        f"(w/L)² is {(there / LENGTH) ** 2:.1e}"
    )
    if not away <= SPIN_UP_TOLERANCE:
        sys.exit("flexible: the beam that spins up is off by more than its modelling")
    return {"unstable_after": leaves, "extreme": here, "exudyn_extreme": there, "apart": away}


def main():
    options = arguments()
    wanted = options.parts or ["exudyn", "theory"]
    if not {"exudyn", "theory"} & set(wanted):
        return
    exu.config.printToConsole = False
    bunraku = Bunraku(options.program)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        if "exudyn" in wanted:
            flights = compare_flights(bunraku, Path(folder))
            times = compare_times(bunraku, Path(folder), options.seconds)
            figures["exudyn"] = {"version": exu.__version__, "flights": flights, "times": times}
        if "theory" in wanted:
            figures["theory"] = {"pendulum": compare_pendulums(bunraku), "spin_up": compare_spin_up(bunraku)}
    bunraku.close()
    if options.json:
        known = json.loads(options.json.read_text() or "{}")
        options.json.write_text(json.dumps(known | figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
