#!/usr/bin/env python3
"""Makes modal data for Bunraku from the mass and stiffness matrices of a finite-element program.

The body is held at its inboard nodes. Craig-Bampton reduction: static shapes of unit displacements of the outboard
nodes, and vibrations with these held, all made orthonormal together. The coordinates of a node stand together, in the
order of the node table: ux uy uz rx ry rz, or with --coordinates 3 ux uy uz. SI units, in the axes of the table.

The mass of a matrix with a block for each node is written as lumps there. A consistent matrix of solids, which has
three coordinates a node and the same numbers for each axis, is written as inertia invariants, which lose nothing. Any
other is lumped by rows, and it is said by how much that moves the frequencies.

Example: tools/modal_data.py --mass M.npy --stiffness K.mtx --nodes nodes.csv --inboard root --outboard tip --modes 4 \\
             --ratio 0.01 --output boom.modal
"""

import argparse
import csv
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("tools/modal_data.py needs numpy: python3 -m pip install numpy")

AGREEMENT = 1e-6  # relative: how well rigid motions must come out of the matrices
MOST_MODES = 64  # of a flexible body


def fail(text):
    """Stops with a message."""
    sys.exit(f"error: {text}")


def read_market(path):
    """A Matrix Market file as a dense matrix."""
    with open(path, encoding="utf-8") as lines:
        head = lines.readline().lower().split()
        if len(head) != 5 or head[0] != "%%matrixmarket" or head[1] != "matrix":
            fail(f"{path} is no Matrix Market file")
        layout, field, symmetry = head[2:]
        if field not in ("real", "integer") or symmetry not in ("general", "symmetric"):
            fail(f"{path}: matrices are read that are real, and general or symmetric, not {field} {symmetry}")
        numbers = [line.split() for line in lines if line.strip() and not line.startswith("%")]
    try:
        rows, columns = int(numbers[0][0]), int(numbers[0][1])
        out = np.zeros((rows, columns))
        if layout == "coordinate":
            for i, j, value in numbers[1:]:
                out[int(i) - 1, int(j) - 1] += float(value)
                if symmetry == "symmetric" and i != j:
                    out[int(j) - 1, int(i) - 1] += float(value)
        else:
            values = iter(float(row[0]) for row in numbers[1:])
            for j in range(columns):
                for i in range(j if symmetry == "symmetric" else 0, rows):
                    out[i, j] = next(values)
                    if symmetry == "symmetric":
                        out[j, i] = out[i, j]
    except (ValueError, IndexError, StopIteration):
        fail(f"{path}: the numbers are not those of a matrix of that size")
    return out


def read_matrix(path, size):
    """A square symmetric matrix from .npy or Matrix Market."""
    try:
        out = np.load(path, allow_pickle=False) if path.suffix == ".npy" else read_market(path)
    except (OSError, ValueError) as error:
        fail(f"{path} cannot be read: {error}")
    out = np.asarray(out, dtype=float)
    if out.shape != (size, size):
        fail(f"{path} has the shape {out.shape}; the nodes make it {size} by {size}")
    if not np.isfinite(out).all():
        fail(f"{path} has numbers that are not finite")
    if np.abs(out - out.T).max() > AGREEMENT * np.abs(out).max():
        fail(f"{path} is not symmetric")
    return (out + out.T) / 2


def read_nodes(path):
    """Names and places of the nodes: a table with the columns name, x, y, z, which a first line may name."""
    names, places = [], []
    try:
        rows = [row for row in csv.reader(open(path, encoding="utf-8")) if row and not row[0].lstrip().startswith("#")]
    except OSError as error:
        fail(f"{path} cannot be read: {error}")
    for number, row in enumerate(rows):
        cells = [cell.strip() for cell in row]
        if number == 0 and cells[:4] == ["name", "x", "y", "z"]:
            continue
        try:
            place = [float(cell) for cell in cells[1:4]]
        except ValueError:
            place = []
        if len(cells) != 4 or len(place) != 3 or not np.isfinite(place).all():
            fail(f"{path}: '{','.join(row)}' is not name,x,y,z")
        if not cells[0] or any(c.isspace() or c in ":#" for c in cells[0]):
            fail(f"{path}: the name '{cells[0]}' is empty, or has a blank, ':' or '#' in it")
        names.append(cells[0])
        places.append(place)
    if len(set(names)) != len(names):
        fail(f"{path}: {next(n for n in names if names.count(n) > 1)} is there twice")
    return names, np.array(places)


def skew(a):
    """a x."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rigid_motions(places, coordinates):
    """The displacements of all coordinates for unit translations and turns about the origin, as columns."""
    out = np.zeros((len(places) * coordinates, 6))
    for j, place in enumerate(places):
        at = j * coordinates
        out[at:at + 3, :3] = np.eye(3)
        out[at:at + 3, 3:] = -skew(place)
        if coordinates == 6:
            out[at + 3:at + 6, 3:] = np.eye(3)
    return out


def check_matrices(mass, stiffness, rigid):
    """That rigid motions cost no energy, and that their mass is that of a rigid body."""
    for k, name in enumerate(["moving along x", "moving along y", "moving along z",
                              "turning about x", "turning about y", "turning about z"]):
        force = np.abs(stiffness @ rigid[:, k])
        scale = np.abs(stiffness) @ np.abs(rigid[:, k])  # row by row, what cancels there
        worst = np.argmax(force / np.where(scale > 0, scale, 1))
        if force[worst] > AGREEMENT * scale[worst]:
            fail(f"the stiffness matrix resists {name} as a whole, by {force[worst]:.3g} in row {worst + 1}: are "
                 "springs to the ground in it, or do the nodes and the matrix not have one order and one unit?")
    whole = rigid.T @ mass @ rigid
    total = whole[0, 0]
    if not total > 0 or np.abs(whole[:3, :3] - total * np.eye(3)).max() > AGREEMENT * total:
        fail("the mass matrix does not have one mass for all directions: "
             f"{whole[0, 0]:.6g}, {whole[1, 1]:.6g}, {whole[2, 2]:.6g} along x, y, z")
    moment = whole[:3, 3:]
    if np.abs(moment + moment.T).max() > AGREEMENT * (np.abs(moment).max() + total * np.abs(rigid[:, 3:]).max()):
        fail("the mass matrix has no centre of mass: its coordinates are not in the order of the nodes")
    center = np.array([moment[1, 2] - moment[2, 1], moment[2, 0] - moment[0, 2],
                       moment[0, 1] - moment[1, 0]]) / 2 / total  # of a rigid body that block is -m [center x]
    return total, center, whole[3:, 3:]


def solve_modes(mass, stiffness):
    """Shapes as columns, normalised to unit mass, and their angular frequencies, rising; stiffness must be positive."""
    try:
        root = np.linalg.cholesky(stiffness)
    except np.linalg.LinAlgError:
        fail("the body can move without deforming although its inboard nodes are held: hold more nodes (with three "
             "coordinates a node, three that are not on one line)")
    inverse = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(inverse @ mass @ inverse.T)  # M x = K x / omega^2 loses nothing of the lowest
    order = [k for k in np.argsort(-values) if values[k] > 1e-14 * values.max()]  # what has no mass does not vibrate
    shapes = inverse.T @ vectors[:, order] / np.sqrt(values[order])
    return shapes, 1 / np.sqrt(values[order])


def craig_bampton(mass, stiffness, boundary, count):
    """Shapes and angular frequencies of Craig-Bampton modes: static ones of `boundary`, and `count` vibrations."""
    size = len(mass)
    inner = np.setdiff1d(np.arange(size), boundary)
    basis = np.zeros((size, 0))
    if len(boundary):
        static = np.zeros((size, len(boundary)))
        static[boundary] = np.eye(len(boundary))
        if len(inner):
            static[inner] = -np.linalg.solve(stiffness[np.ix_(inner, inner)], stiffness[np.ix_(inner, boundary)])
        basis = static
    if len(inner) and count:
        held, _ = solve_modes(mass[np.ix_(inner, inner)], stiffness[np.ix_(inner, inner)])
        fixed = np.zeros((size, min(count, held.shape[1])))
        fixed[inner] = held[:, :count]
        basis = np.hstack([basis, fixed])
    shapes, omega = solve_modes(basis.T @ mass @ basis, basis.T @ stiffness @ basis)
    return basis @ shapes, omega


def is_lumped(mass, coordinates):
    """Whether no two nodes are coupled."""
    blocks = np.kron(np.eye(len(mass) // coordinates), np.ones((coordinates, coordinates)))
    return np.abs(mass * (1 - blocks)).max() <= 1e-14 * np.abs(mass).max()


def is_isotropic(mass):
    """Whether a matrix of three coordinates a node has the same numbers for each, and none between them."""
    return np.abs(mass - np.kron(mass[::3, ::3], np.eye(3))).max() <= AGREEMENT * np.abs(mass).max()


def lumped_by_rows(mass, coordinates):
    """A matrix with a block for each node that has the same mass, and about the same inertia of sections."""
    nodes = len(mass) // coordinates
    out = np.zeros_like(mass)
    rows = [np.array([mass[a::coordinates, a::coordinates].sum(axis=1)]).ravel() for a in range(coordinates)]
    for j in range(nodes):
        at = j * coordinates
        out[at:at + 3, at:at + 3] = np.eye(3) * np.mean([rows[a][j] for a in range(3)])
        for a in range(3, coordinates):
            out[at + a, at + a] = max(rows[a][j], 0)
    return out


def lump_of(block):
    """Mass, centre from the node and inertia about the centre of a node's block."""
    mass = max(np.trace(block[:3, :3]) / 3, 0)
    if len(block) == 3 or mass == 0:
        return mass, np.zeros(3), np.zeros((3, 3)) if len(block) == 3 else block[3:, 3:]
    coupling = block[:3, 3:] / mass  # -[c x]
    center = np.array([coupling[1, 2] - coupling[2, 1], coupling[2, 0] - coupling[0, 2],
                       coupling[0, 1] - coupling[1, 0]]) / 2
    return mass, center, block[3:, 3:] + mass * skew(center) @ skew(center)


def text(numbers):
    """Numbers with all digits."""
    return " ".join(f"{x:.17g}" for x in np.ravel(numbers))


def six(inertia):
    """xx xy xz yy yz zz."""
    return text([inertia[0, 0], inertia[0, 1], inertia[0, 2], inertia[1, 1], inertia[1, 2], inertia[2, 2]])


def invariants(scalar, places, shapes):
    """S1, C0, C1, J1, J2 of fields over a scalar mass matrix, as lines. `shapes` is node by axis by mode."""
    lines = []
    modes = shapes.shape[2]
    whole = scalar.sum(axis=0)
    second = lambda a, b: a.T @ scalar @ b  # sum of m a b*
    to_inertia = lambda ba: np.trace(ba) * np.eye(3) - ba
    cross = lambda ba: np.array([ba[2, 1] - ba[1, 2], ba[0, 2] - ba[2, 0], ba[1, 0] - ba[0, 1]])
    for i in range(modes):
        gamma = shapes[:, :, i]
        moved = second(gamma, places)  # sum of m gamma rho*
        lines += [f"S1 {i + 1}: {text(whole @ gamma)}", f"C0 {i + 1}: {text(cross(moved))}",
                  f"J1 {i + 1}: {text(to_inertia(moved))}"]
        for l in range(i, modes):
            both = second(shapes[:, :, l], gamma)
            lines += [f"C1 {i + 1} {l + 1}: {text(cross(both))}", f"J2 {i + 1} {l + 1}: {text(to_inertia(both))}"]
    return lines


def parse():
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mass", type=pathlib.Path, required=True, help="mass matrix, .npy or Matrix Market")
    parser.add_argument("--stiffness", type=pathlib.Path, required=True, help="stiffness matrix, .npy or Matrix Market")
    parser.add_argument("--nodes", type=pathlib.Path, required=True, help="table of the nodes: name,x,y,z")
    parser.add_argument("--inboard", nargs="+", required=True, metavar="NODE",
                        help="nodes at which the body is held; the first is its frame")
    parser.add_argument("--outboard", nargs="*", default=[], metavar="NODE", help="nodes on which something hangs")
    parser.add_argument("--coordinates", type=int, choices=(3, 6), default=6, help="of a node (default 6)")
    parser.add_argument("--modes", type=int, default=6, help="vibrations besides the static shapes (default 6)")
    parser.add_argument("--below", type=float, default=float("inf"), help="only modes of lower frequency, Hz")
    parser.add_argument("--ratio", type=float, default=0.0, help="damping ratio of all modes (default 0)")
    parser.add_argument("--name", default="", help="name of the body")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the modal data")
    return parser.parse_args()


def main():
    arguments = parse()
    coordinates = arguments.coordinates
    names, places = read_nodes(arguments.nodes)
    mass = read_matrix(arguments.mass, len(names) * coordinates)
    stiffness = read_matrix(arguments.stiffness, len(names) * coordinates)
    for name in arguments.inboard + arguments.outboard:
        if name not in names:
            fail(f"there is no node '{name}' in {arguments.nodes}")
    if set(arguments.inboard) & set(arguments.outboard) or len(set(arguments.outboard)) != len(arguments.outboard):
        fail("a node is both inboard and outboard, or outboard twice")
    if arguments.ratio < 0 or arguments.modes < 0:
        fail("the damping ratio and the number of modes are zero or more")
    frame = names.index(arguments.inboard[0])
    places = places - places[frame]
    total, center, about_frame = check_matrices(mass, stiffness, rigid_motions(places, coordinates))

    held = {names.index(name) for name in arguments.inboard}
    free = np.array([j * coordinates + a for j in range(len(names)) if j not in held for a in range(coordinates)],
                    dtype=int)
    if not len(free):
        fail("all nodes are inboard: nothing can deform")
    outboard = {names.index(name) for name in arguments.outboard}
    boundary = np.array([k for k, at in enumerate(free) if at // coordinates in outboard], dtype=int)
    reduced = lambda matrix: craig_bampton(matrix[np.ix_(free, free)], stiffness[np.ix_(free, free)], boundary,
                                           arguments.modes)
    as_invariants = False
    used = mass
    if is_lumped(mass, coordinates):
        pass
    elif coordinates == 3 and is_isotropic(mass):
        as_invariants = True
    else:
        used = lumped_by_rows(mass, coordinates)
        before, after = reduced(mass)[1], reduced(used)[1]
        print(f"the mass matrix is lumped by rows: the first frequency moves from {before[0] / 2 / np.pi:.6g} Hz to "
              f"{after[0] / 2 / np.pi:.6g} Hz; more elements make the two agree", file=sys.stderr)
    shapes, omega = reduced(used)
    kept = omega < 2 * np.pi * arguments.below
    shapes, omega = shapes[:, kept], omega[kept]
    if not 0 < len(omega) <= MOST_MODES:
        fail(f"there are {len(omega)} modes, not 1 to {MOST_MODES}: change --modes or --below")

    whole = np.zeros((len(names) * coordinates, len(omega)))
    whole[free] = shapes
    by_node = whole.reshape(len(names), coordinates, len(omega))
    lumps = {}
    if not as_invariants:
        for j in range(len(names)):
            at = j * coordinates
            lumps[j] = lump_of(used[at:at + coordinates, at:at + coordinates])
        total = sum(m for m, _, _ in lumps.values())
        center = sum(m * (places[j] + c) for j, (m, c, _) in lumps.items()) / total
        about_frame = sum(J - m * skew(places[j] + c) @ skew(places[j] + c) for j, (m, c, J) in lumps.items())
    central = about_frame + total * skew(center) @ skew(center)

    written = [j for j in range(len(names)) if not as_invariants or j == frame or j in outboard]
    # other inboard nodes are at rest, too: their shapes are zero
    lines = ["format: bunraku-modal 1", "# made by modal_data.py", "units: SI", f"frame: {names[frame]}",
             f"mass: {text(total)}", f"com: {text(center)}", f"inertia: {six(central)}", f"nodes: {len(written)}",
             f"inboard: {names[frame]}"]
    if arguments.name:
        lines.insert(2, f"name: {arguments.name}")
    if arguments.outboard:
        lines.append("outboard: " + " ".join(arguments.outboard))
    lines.append(f"modes: {len(omega)}")
    for i, each in enumerate(omega):
        lines.append(f"mode {i + 1}: frequency {text(each / 2 / np.pi)} ratio {text(arguments.ratio)}")
    for j in written:
        line = f"node {names[j]}: {text(places[j])}"
        if j in lumps and (lumps[j][0] > 0 or np.any(lumps[j][2])):
            m, c, J = lumps[j]
            line += f" {text(m)}" + (f" {six(J)} {text(c)}" if np.any(J) or np.any(c) else "")
        lines.append(line)
    for j in written:
        if j == frame:
            continue
        for i in range(len(omega)):
            shape = by_node[j, :, i]
            lines.append(f"shape {i + 1} {names[j]}: {text(np.concatenate([shape[3:], shape[:3]]))}")
    if as_invariants:
        lines += invariants(mass[::3, ::3], places, by_node[:, :3, :])
    try:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        fail(f"{arguments.output} cannot be written: {error}")
    print(f"{arguments.output}: {len(omega)} modes, {omega[0] / 2 / np.pi:.6g} to {omega[-1] / 2 / np.pi:.6g} Hz, "
          f"{total:.6g} kg")


if __name__ == "__main__":
    main()
