#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of CONTRIBUTING.md that a program can check.

    lint.py floors|text|headers|modules|self [--root DIR] [--cc CC] [--cxx CXX] [--build DIR]

`self` shows that the checks can fail: it runs them on small trees with one fault each.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

BASE_FLOORS = {
    "base": "",
    "data": "base",
    "sys": "base",
    "model": "base data",
    "judge": "base",
    "plugin": "base data model judge",
    "exec": "base data sys model",
}
FLOORS = {name: set(lower.split()) for name, lower in BASE_FLOORS.items()}
FLOORS["pipeline"] = set(FLOORS)
FLOORS["batch"] = set(FLOORS)
FLOORS["cli"] = set(FLOORS)

# A library is known to one place, so that it can be replaced there.
LIBRARIES = {
    "ltdl.h": {"core/plugin/loader.c"},
    "yaml.h": {"core/data/yaml.c"},
    "zlib.h": {"core/data/lines.c"},
    "zstd.h": {"core/data/lines.c"},
    "json-c/": {"core/data/json.h", "core/data/json.c"},
    "nettle/": "core/base/digest.",
    "argp.h": "core/cli/",
}

LIBC = set(
    """assert ctype errno fcntl fenv float inttypes limits locale math poll pthread sched setjmp signal stdarg stdatomic
    stdbool stddef stdint stdio stdlib string strings time unistd wchar wctype regex""".split()
)

PUBLIC = ["stdarg.h", "stddef.h", "stdint.h", "stdlib.h", "string.h"]

LINES_MAX = 600
FUNCTION_LINES_MAX = 80
# Put together, so that this file does not hold them.
FORBIDDEN = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
SPDX = "SPDX-License-Identifier: Apache-2.0"


def sources(root, folders, patterns):
    for folder in folders:
        for pattern in patterns:
            yield from sorted((root / folder).rglob(pattern))


def includes(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if found:
            yield number, found.group(1) == '"', found.group(2)


# -- floors ------------------------------------------------------------------------------------------------------------


def is_library_allowed(header, name):
    for library, places in LIBRARIES.items():
        if header == library or (library.endswith("/") and header.startswith(library)):
            return name.startswith(places) if isinstance(places, str) else name in places
    return True


def check_core_include(floor, name, is_quoted, header):
    if floor == "include":
        if is_quoted or not (header.startswith("assay/") or header in PUBLIC):
            return f"a public header includes only <assay/...> and {PUBLIC}"
    elif floor not in FLOORS:
        return f"the folder core/{floor} is on no floor"
    elif is_quoted:
        target = header.split("/")[0] if "/" in header else None
        if target is None or target not in FLOORS:
            return 'an include of the core is written "floor/name.h"'
        if target != floor and target not in FLOORS[floor]:
            return f"floor '{floor}' must not know floor '{target}'"
    elif not is_library_allowed(header, name):
        return f"<{header}> is included only by {LIBRARIES[next(l for l in LIBRARIES if header.startswith(l))]}"
    return None


def check_plugin_include(is_quoted, header):
    plain = header[:-2] if header.endswith(".h") else header
    if is_quoted or not (header.startswith("assay/") or plain in LIBC):
        return "a plugin includes only <assay/...> and the C library"
    return None


def floors(root):
    for path in sources(root, ["core", "plugins"], ["*.c", "*.h"]):
        name = path.relative_to(root).as_posix()
        for number, is_quoted, header in includes(path):
            if name.startswith("core/"):
                fault = check_core_include(name.split("/")[1], name, is_quoted, header)
            else:
                fault = check_plugin_include(is_quoted, header)
            if fault:
                yield f"{name}:{number}: {fault} (it includes {header})"


# -- text --------------------------------------------------------------------------------------------------------------


def long_functions(text):
    """House style: the braces of a function, and of nothing longer that is nested, stand in column 1."""
    begin = None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin + 1 > FUNCTION_LINES_MAX:
                yield begin, number - begin + 1
            begin = None


def text(root):
    folders = ["core", "plugins", "conf", "tests", "cmake", "examples", ".ci"]
    patterns = ["*.c", "*.h", "*.py", "*.sh", "*.yaml", "CMakeLists.txt", "*.cmake", "run"]
    for path in sources(root, folders, patterns):
        if not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        content = path.read_text(errors="replace")
        lines = content.splitlines()
        for number, line in enumerate(lines, 1):
            for word in FORBIDDEN:
                if re.search(rf"\b{word}\b", line):
                    yield f"{name}:{number}: '{word}': finish it, or open an issue"
        if path.suffix in (".c", ".h", ".py", ".sh", ".cmake") and SPDX not in "\n".join(lines[:3]):
            yield f"{name}:1: the line '{SPDX}' is missing"
        if path.suffix in (".c", ".h"):
            if len(lines) > LINES_MAX:
                yield f"{name}:{LINES_MAX}: {len(lines)} lines; a file holds at most {LINES_MAX}"
            for number, length in long_functions(content):
                yield f"{name}:{number}: a function of {length} lines; at most {FUNCTION_LINES_MAX}"


# -- headers -----------------------------------------------------------------------------------------------------------


def compile_alone(command, root, header):
    # Through a file of its own that includes it twice: alone, and safe to include again.
    unit = f'#include "{header}"\n#include "{header}"\nint assay_lint_unit;\n'
    done = subprocess.run([*command, "-fsyntax-only", "-"], input=unit, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{header.relative_to(root)}: {' '.join(command)}:\n{done.stderr}"
    return None


def headers(root, cc, cxx):
    public = list((root / "core/include").rglob("*.h"))
    internal = [path for path in (root / "core").rglob("*.h") if path not in public]
    include = ["-I", str(root / "core"), "-I", str(root / "core/include")]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    jobs = []
    for header in public:
        jobs.append(([cc, "-x", "c", "-std=c11", "-Wpedantic", *warnings, *include[2:]], header))
        jobs.append(([cxx, "-x", "c++", "-std=c++17", "-Wpedantic", *warnings, *include[2:]], header))
    for header in internal:
        jobs.append(([cc, "-x", "c", "-std=gnu11", "-D_GNU_SOURCE", *warnings, *include], header))
    if not public or not internal:
        yield "there are no headers: is --root right?"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(lambda job: compile_alone(job[0], root, job[1]), jobs))


# -- modules -----------------------------------------------------------------------------------------------------------


def exported(path):
    done = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
    # The sanitizers add symbols of their own.
    return [line.split()[-1] for line in done.stdout.splitlines() if not re.search(r"\b_*(asan|ubsan|odr)_", line)]


def modules(build):
    paths = sorted((build / "lib/assay/plugins").rglob("*.so"))
    if not paths:
        yield f"no module below {build}/lib/assay/plugins: build first"
    for path in paths:
        wanted = [f"{path.stem}_LTX_assay_plugin"]
        found = exported(path)
        if found != wanted:
            yield f"{path}: exports {found}, not only {wanted[0]}"


# -- self --------------------------------------------------------------------------------------------------------------

HEADER = f"/* {SPDX} */\n"
FAULTS = {
    # what is wrong: (check, file, text, words of the complaint)
    "an upward include": (floors, "core/base/a.c", '#include "exec/box.h"\n', "must not know floor 'exec'"),
    "a sideways include": (floors, "core/sys/a.c", '#include "data/json.h"\n', "must not know floor 'data'"),
    "judge includes data": (floors, "core/judge/a.c", '#include "data/node.h"\n', "must not know"),
    "an include without its floor": (floors, "core/exec/a.c", '#include "box.h"\n', "is written"),
    "ltdl outside the loader": (floors, "core/plugin/registry.c", "#include <ltdl.h>\n", "is included only by"),
    "json-c outside data": (floors, "core/batch/a.c", "#include <json-c/json.h>\n", "is included only by"),
    "a folder on no floor": (floors, "core/extra/a.c", '#include "base/str.h"\n', "on no floor"),
    "a plugin that knows the core": (floors, "plugins/datasets/a/a.c", '#include "base/str.h"\n', "a plugin includes"),
    "a plugin with a library": (floors, "plugins/datasets/a/a.c", "#include <json-c/json.h>\n", "a plugin includes"),
    "a public header with an internal one": (floors, "core/include/assay/a.h", '#include "base/str.h"\n', "public"),
    "a forbidden word": (text, "core/base/a.c", f"/* {FORBIDDEN[0]}: later */\n", FORBIDDEN[0]),
    "a long file": (text, "core/base/a.c", "int a;\n" * LINES_MAX, "a file holds at most"),
    "a long function": (text, "core/base/a.c", "int f(void)\n{\n" + "\n" * FUNCTION_LINES_MAX + "}\n", "a function of"),
    "no licence": (text, "core/base/a.h", None, "is missing"),
}


def self_check(cc, cxx):
    for fault, (check, name, content, words) in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text("int a;\n" if content is None else HEADER + content)
            complaints = list(check(pathlib.Path(folder)))
            if not any(words in complaint for complaint in complaints):
                yield f"{fault}: not noticed ({complaints})"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "core/base").mkdir(parents=True)
        (root / "core/include/assay").mkdir(parents=True)
        (root / "core/base/a.h").write_text("size_t needs_stddef(void);\n")
        (root / "core/include/assay/b.h").write_text("static inline int f(int new) { return new; }\n")
        complaints = list(headers(root, cc, cxx))
        if len(complaints) < 2:
            yield f"headers that do not compile alone: not noticed ({complaints})"
        (root / "m.c").write_text("int m_LTX_assay_plugin(void) { return 0; }\nint another(void) { return 0; }\n")
        place = root / "lib/assay/plugins/languages/m"
        place.mkdir(parents=True)
        subprocess.run([cc, "-shared", "-fPIC", "-o", place / "m.so", root / "m.c"], check=True)
        if not list(modules(root)):
            yield "a module with two symbols: not noticed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["floors", "text", "headers", "modules", "self"])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    args = parser.parse_args()
    checks = {
        "floors": lambda: floors(args.root),
        "text": lambda: text(args.root),
        "headers": lambda: headers(args.root, args.cc, args.cxx),
        "modules": lambda: modules(args.build or args.root / "build"),
        "self": lambda: self_check(args.cc, args.cxx),
    }
    complaints = list(checks[args.check]())
    print("\n".join(complaints) or f"{args.check}: nothing to complain about")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
