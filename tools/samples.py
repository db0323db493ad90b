#!/usr/bin/env python3
"""The samples of README.md, docs/*.md and the public headers, built and run against an installed Bunraku.

  ```cpp      a program. Without `main` it is the body of one, its #include lines taken to the top. A ```text block
              right after it is what it prints.
  ```cmake    the CMakeLists.txt of a program `my_program`, but for project() and add_executable().
  ```console  lines `$ COMMAND` for a shell, each with what it prints below it. A command's status does not matter.
  ```sh       commands for a person. Those that begin with ./run are looked up in its help, with their options.
  @code       in a header: as ```cpp.

Programs and commands run in share/bunraku of the installation, where models/ is, with bin/ in the path. A comment before
a block, which is not seen in the document, says what does not follow from these rules:

  <!-- sample: given                 lines that stand before the sample's own
  #include <bunraku/bunraku.hpp>
  const bunraku::Model arm = bunraku::load("models/arm.urdf");
  -->
  <!-- sample: goes on -->           after the last C++ sample of the same document, in the same program
  <!-- sample: not run: REASON -->   for what cannot be

Usage: tools/samples.py build   --prefix DIR --build DIR      builds all programs
       tools/samples.py run DOCUMENT --prefix DIR --build DIR runs the samples of one document
       tools/samples.py list                                  names the documents that have samples
       tools/samples.py refresh --prefix DIR --build DIR      puts into the documents what the samples print
       tools/samples.py check                                 tests this program
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class SampleError(Exception):
    pass


@dataclasses.dataclass
class Block:
    """A fenced block: where it is, what it says, and what the comment before it asks for."""

    document: str
    line: int
    language: str
    lines: list
    directive: str = ""
    given: list = dataclasses.field(default_factory=list)

    @property
    def place(self):
        return f"{self.document}:{self.line}"


@dataclasses.dataclass
class Program:
    """A C++ program of one or more blocks, and what each block is to print."""

    block: Block
    code: str
    shown: list
    name: str = ""


def documents():
    headers = [p for p in sorted((ROOT / "bunraku").rglob("*.hpp")) if not {"detail", "kernels"} & set(p.parts)]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), *headers]


def markdown_of_header(text):
    """A header's comments with @code as fences, line by line, so that line numbers stay."""
    out = []
    for line in text.splitlines():
        comment = re.match(r"^\s*(?:///|\*) ?(.*)$", line)
        inner = comment[1] if comment else ""
        inner = re.sub(r"^\s*@code(\{\.cpp\})?\s*$", "```cpp", inner)
        out.append(re.sub(r"^\s*@endcode\s*$", "```", inner))
    return "\n".join(out)


def blocks(text, document):
    """The fenced blocks of a text in Markdown."""
    out, fence, comment, pending = [], None, None, None
    for number, line in enumerate(text.splitlines(), 1):
        if comment is not None:
            if line.strip() == "-->":
                pending, comment = comment, None
            else:
                comment[1].append(line)
        elif fence is not None:
            if line.startswith("```"):
                out.append(fence)
                fence = None
            else:
                fence.lines.append(line)
        elif line.startswith("```"):
            directive, given = pending or ("", [])
            fence = Block(document, number, line[3:].strip(), [], directive, given)
            pending = None
        elif match := re.match(r"^<!-- sample: (.*?) -->$", line):
            pending = (match[1], [])
        elif match := re.match(r"^<!-- sample: (given)$", line):
            comment = (match[1], [])
        elif line.strip() and pending is not None:
            raise SampleError(f"{document}:{number}: the comment 'sample: {pending[0]}' is not followed by a sample")
    if fence is not None or comment is not None or pending is not None:
        raise SampleError(f"{document}: a block or a comment about one is never closed")
    for block in out:
        if block.directive and not re.fullmatch(r"given|goes on|not run: .+", block.directive):
            raise SampleError(f"{block.place}: 'sample: {block.directive}' is not understood, see tools/samples.py")
    return out


def read_blocks(path):
    text = path.read_text()
    document = str(path.relative_to(ROOT))
    return blocks(markdown_of_header(text) if path.suffix == ".hpp" else text, document)


def program_text(lines):
    """A whole C++ program of a sample's lines."""
    if any(re.match(r"^(int|auto) main\(", line) for line in lines):
        return "\n".join(lines) + "\n"
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    return "\n".join([*dict.fromkeys(includes), "", "int main() {", *body, "}", ""])


def programs(found):
    """The C++ programs of a document's blocks."""
    out, lines = [], []
    for index, block in enumerate(found):
        if block.language != "cpp" or block.directive.startswith("not run"):
            continue
        if block.directive == "goes on" and not out:
            raise SampleError(f"{block.place}: goes on after what?")
        lines = (lines if block.directive == "goes on" else block.given) + block.lines
        shown = out.pop().shown if block.directive == "goes on" else []
        if index + 1 < len(found) and found[index + 1].language == "text":
            shown = [*shown, found[index + 1]]
        out.append(Program(block, program_text(lines), shown))
    for number, program in enumerate(out):
        program.name = re.sub(r"\W", "_", f"{program.block.document}_{number}")
    return out


def cmake_programs(found):
    return [b for b in found if b.language == "cmake" and not b.directive.startswith("not run")]


def without_rounding(text):
    """The text with its numbers to nine digits, and 0 for those that are rounding errors: compilers differ in them."""
    return NUMBER.sub(lambda m: f"{0.0 if abs(float(m[0])) < 1e-12 else float(m[0]):.9g}", text)


def same(printed, shown):
    return without_rounding(printed).split("\n") == without_rounding(shown).split("\n")


def environment(prefix):
    return {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}


def run_shell(command, prefix):
    done = subprocess.run(["bash", "-c", command], cwd=prefix / "share/bunraku", env=environment(prefix),
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    return done.stdout + done.stderr


def run_program(program, prefix, build):
    if not (build / "bin" / program.name).is_file():
        raise SampleError(f"{program.block.place}: the program was not built")
    done = subprocess.run([build / "bin" / program.name], cwd=prefix / "share/bunraku", env=environment(prefix),
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        raise SampleError(f"{program.block.place}: the program ends with status {done.returncode}\n{done.stderr}")
    return done.stdout


def sections(block):
    """The commands of a console block, each with the lines below it."""
    out = []
    for line in block.lines:
        if line.startswith("$ "):
            out.append((line[2:], []))
        elif not out:
            raise SampleError(f"{block.place}: a console block begins with a line '$ COMMAND'")
        else:
            out[-1][1].append(line)
    return out


def check_run_commands(block):
    """Each `./run COMMAND OPTIONS` of the block is a command of ./run with these options, or a benchmark's."""
    for line in block.lines:
        words = line.split("#")[0].split("&&")[0].split()
        if not words or words[0] != "./run" or len(words) == 1:
            continue
        text = ROOT / f"tools/run/help/{words[1]}.txt"
        if words[1] == "help":
            continue
        if not text.is_file():
            raise SampleError(f"{block.place}: ./run has no command {words[1]}")
        if words[1] == "bench" and len(words) > 2:
            if not list((ROOT / "benchmarks").glob(f"{words[2]}.*")):
                raise SampleError(f"{block.place}: there is no benchmark {words[2]}")
            continue
        for word in words[2:]:
            if word.startswith("--") and word.split("=")[0] not in text.read_text():
                raise SampleError(f"{block.place}: ./run {words[1]} has no option {word}")


def difference(place, what, printed, shown):
    return SampleError(f"{place}: {what} does not print what the document shows.\n--- shown\n{shown}--- printed\n{printed}")


def run_document(path, prefix, build):
    """Runs all samples of a document; returns how many, and those that cannot be, with the reason."""
    found = read_blocks(path)
    errors, count, left = [], 0, []

    def attempt(call):
        nonlocal count
        count += 1
        try:
            call()
        except SampleError as error:
            errors.append(str(error))

    def check_program(program):
        printed = run_program(program, prefix, build)
        shown = "".join(line + "\n" for block in program.shown for line in block.lines)
        if program.shown and not same(printed, shown):
            raise difference(program.block.place, "the program", printed, shown)

    def check_command(block, command, lines):
        printed = run_shell(command, prefix)
        shown = "".join(line + "\n" for line in lines)
        if not same(printed, shown):
            raise difference(block.place, command, printed, shown)

    for program in programs(found):
        attempt(lambda: check_program(program))
    for block in found:
        if block.directive.startswith("not run"):
            left.append(f"{block.place}: {block.directive}")
        elif block.language == "console":
            for command, lines in sections(block):
                attempt(lambda: check_command(block, command, lines))
        elif block.language == "sh":
            attempt(lambda: check_run_commands(block))
        elif block.language == "cmake":
            count += 1  # it was built
        elif block.language not in ("cpp", "text", "", "json", "yaml"):
            errors.append(f"{block.place}: what a block of '{block.language}' is, is not known, see tools/samples.py")
    if errors:
        raise SampleError("\n".join(errors))
    return count, left


def write_if_changed(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def build_all(prefix, build, jobs):
    """One CMake project for all programs of all documents."""
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(samples LANGUAGES CXX)",
             "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)", "find_package(bunraku REQUIRED)",
             "add_compile_options(-Wall -Wextra -Werror)"]
    for path in documents():
        found = read_blocks(path)
        for program in programs(found):
            write_if_changed(build / f"{program.name}.cpp", program.code)
            lines += [f"add_executable({program.name} {program.name}.cpp)",
                      f"target_link_libraries({program.name} PRIVATE bunraku::bunraku)"]
        for number, block in enumerate(cmake_programs(found)):
            folder = re.sub(r"\W", "_", f"{block.document}_cmake_{number}")
            write_if_changed(build / folder / "main.cpp", "#include <bunraku/bunraku.hpp>\nint main() {}\n")
            own = ["cmake_minimum_required(VERSION 3.25)", "project(my_project LANGUAGES CXX)",
                   "add_executable(my_program main.cpp)", *block.lines, ""]
            write_if_changed(build / folder / "CMakeLists.txt", "\n".join(own))
            lines.append(f"add_subdirectory({folder})")
    write_if_changed(build / "CMakeLists.txt", "\n".join([*lines, ""]))
    configure = ["cmake", "-S", build, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                 f"-DCMAKE_PREFIX_PATH={prefix}"]
    for command in (configure, ["cmake", "--build", build, "-j", str(jobs), "--", "-k", "0"]):
        if subprocess.run(command).returncode:
            raise SampleError("a sample does not build: see above")


def refreshed(path, prefix, build):
    """The document's text with what its samples print now."""
    found = read_blocks(path)
    new = {}
    for block in found:
        if block.language == "console" and not block.directive.startswith("not run"):
            new[block.line] = [line for command, _ in sections(block)
                               for line in ["$ " + command, *run_shell(command, prefix).splitlines()]]
    for program in programs(found):
        if len(program.shown) == 1:  # of several, who knows which line is whose
            new[program.shown[0].line] = run_program(program, prefix, build).splitlines()
    out, skipping = [], False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if skipping and line.startswith("```"):
            skipping = False
        if not skipping:
            out.append(line)
        if number in new:
            out += new[number]
            skipping = True
    return "\n".join(out) + "\n"


def self_check():
    text = "<!-- sample: given\n#include <a>\nint x = 1;\n-->\n```cpp\n#include <b>\nprint(x);\n```\n\n```text\n1\n```\n" \
           "<!-- sample: goes on -->\n```cpp\nprint(2);\n```\n<!-- sample: not run: no robot here -->\n```cpp\n!\n```\n"
    found = blocks(text, "d.md")
    made = programs(found)
    assert [b.language for b in found] == ["cpp", "text", "cpp", "cpp"], found
    assert len(made) == 1 and made[0].code == "#include <a>\n#include <b>\n\nint main() {\nint x = 1;\nprint(x);\n" \
        "print(2);\n}\n", made
    assert [block.lines for block in made[0].shown] == [["1"]], made
    assert program_text(["int main() {", "}"]) == "int main() {\n}\n"
    assert same("0.30000000000000004 8.1e-17\n", "0.3 -3e-16\n") and not same("0.30000001\n", "0.3\n")
    assert not same("a\n", "a\n\n") and not same("1e-11\n", "0\n")
    header = "/// Text\n/// @code\n/// f();\n/// @endcode\nint f();\n"
    assert blocks(markdown_of_header(header), "h.hpp")[0].lines == ["f();"]
    for wrong in ("```cpp\n", "<!-- sample: goes on -->\ntext\n", "<!-- sample: perhaps -->\n```cpp\n```\n"):
        try:
            blocks(wrong, "w.md")
        except SampleError:
            continue
        raise AssertionError(wrong)
    for wrong in ("./run tset", "./run test --quik", "./run bench dynamcs"):
        try:
            check_run_commands(Block("w.md", 1, "sh", [wrong]))
        except SampleError:
            continue
        raise AssertionError(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "run", "list", "refresh", "check"])
    parser.add_argument("document", nargs="?")
    parser.add_argument("--prefix", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--build", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("-j", type=int, default=2, dest="jobs")
    options = parser.parse_args()
    try:
        if options.command == "build":
            build_all(options.prefix, options.build, options.jobs)
        elif options.command == "run":
            count, left = run_document(ROOT / options.document, options.prefix, options.build)
            print("\n".join([f"{count} samples of {options.document} do what they show", *left]))
        elif options.command == "list":
            print("\n".join(str(p.relative_to(ROOT)) for p in documents() if read_blocks(p)))
        elif options.command == "refresh":
            for path in documents():
                text = refreshed(path, options.prefix, options.build) if path.suffix == ".md" else None
                if text and text != path.read_text():
                    path.write_text(text)
                    print(f"refreshed {path.relative_to(ROOT)}")
        else:
            self_check()
    except SampleError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
