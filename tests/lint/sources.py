#!/usr/bin/python3
"""Checks rules of the sources that a compiler does not check: layers, names, banned calls, include circles.

usage: sources.py ROOT      checks the sources
       sources.py --layers  prints the directories of common/, and what each may include

Checks the sources for C and nvcc, the headers and the scripts below common/, tools/, tests/, workflows/, man/ and .ci/.
Prints one line per finding, and exits with status 1 if there is one.
SPDX-License-Identifier: MIT"""

import os
import re
import sys

# The directories of common/, and the other directories that files of each may include. No directory includes one further down.
LAYERS = {
    "base": [],
    "file": ["base"],
    "seq": ["base", "file"],
    "cli": ["base", "file", "seq"],
    "features": ["base", "file", "seq"],
    "deflate": ["base", "seq"],
    "codec": ["base", "deflate"],
    "compute": ["base", "file", "seq"],
    "compute/cpu/kernels": ["base", "seq", "compute"],
    "compute/cpu/layers": ["base", "seq", "compute", "compute/cpu/kernels"],
    "compute/cpu/train": ["base", "seq", "compute", "compute/cpu/kernels", "compute/cpu/layers"],
    "compute/cpu": ["base", "seq", "compute", "compute/cpu/kernels", "compute/cpu/layers", "compute/cpu/train"],
    "compute/cuda": ["base", "seq", "deflate", "compute"],
    "net": ["base", "seq", "compute"],
    "ckpt": ["base", "file", "deflate"],
    "h5": ["base", "file", "seq", "deflate", "codec"],
    "chunk": ["base", "file", "seq", "deflate", "codec", "h5"],
    "track": ["base", "file", "seq", "features"],
    "track/measures": ["base", "file", "features", "track"],
    "track/formats": ["base", "file", "seq", "deflate", "codec", "track", "track/measures"],
    "signal": ["base", "file", "seq", "cli", "features", "codec", "h5", "chunk", "track", "track/measures", "track/formats"],
    "plot": ["base", "file", "cli", "features", "track"],
    "input": ["base", "file", "seq", "cli", "features", "codec", "compute", "net", "ckpt", "h5", "chunk"],
}
LAYERS["examples"] = LAYERS["input"] + ["track", "track/measures", "signal", "input"]
BELOW_JOBS = [layer for layer in LAYERS if not layer.startswith("compute/c")]
# Jobs do not include each other.
LAYERS.update({f"job/{name}": BELOW_JOBS
               for name in ("encode", "coverage", "chunks", "predict", "train", "effect", "tracks", "peaks", "profile")})

# Headers of the C library, Linux and the compiler. All others are third-party.
SYSTEM = re.compile(
    r"(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign"
    r"|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdio_ext|stdlib|stdnoreturn|string|strings|tgmath"
    r"|threads|time|uchar|wchar|wctype|dirent|dlfcn|endian|fcntl|fnmatch|getopt|glob|libgen|poll"
    r"|pthread|sched|semaphore|termios|unistd|malloc|cpuid|immintrin|arm_neon|arm_sve"
    r"|(sys|linux|asm|bits)/.*)\.h"
)

# Calls that hide errors or may overflow buffers.
UNSAFE = ["atoi", "atol", "atoll", "atof", "sscanf", "alloca", "gets", "sprintf", "vsprintf", "strcpy",
          "strcat", "strtok", "tmpnam", "tempnam", "mktemp", "setlocale"]
# Calls that only tests may use.
SHELLING = ["system", "popen"]
# Calls that only tool.c and progress.c of the library may use.
SPEAKING = ["exit", "_exit", "_Exit", "quick_exit", "abort", "printf", "vprintf", "puts", "putchar",
            "perror"]
SPEAKERS = ["common/cli/tool.c", "common/base/progress.c"]

# What the generators of synthetic genomes in tools/benchmark/ and workflows/demo/ share.
GENERATORS = ["workflows/demo/synthetic.h"]

MAX_LINES = 800

INCLUDE = re.compile(r'^[ \t]*#\s*include[ \t]*([<"])([^>"]+)[>"]', re.M)
# A header that the files of one topic share: h5_private.h is for h5.c and h5_*.c. It may include a third-party header
# on their behalf.
PRIVATE = re.compile(r"(.+)_private\.h")
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank_literals(text):
    """Blanks comments, strings and character constants; keeps lines."""
    return LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def blank_comments(text):
    """Blanks block comments; keeps lines."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def find_circles(graph):
    """The strongly connected components of {node: nodes} with several nodes, by Tarjan's algorithm."""
    order, low, stack, circles = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            at = stack.index(node)
            circle = sorted(stack[at:])
            del stack[at:]
            if len(circle) > 1:
                circles.append(circle)

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return circles


def find_files(root):
    """Returns the paths of the files to check, relative to `root`."""
    for top in ("common", "tools", "tests", "workflows", "man", ".ci"):
        for directory, directories, names in os.walk(os.path.join(root, top)):
            directories.sort()
            for name in sorted(names):
                yield os.path.relpath(os.path.join(directory, name), root)


class Lint:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.third_party = {}  # header -> files of common/ that include it
        self.modules = {}  # module -> modules that its files include

    def say(self, path, line, text):
        self.findings.append((path, line, text))

    def check_include(self, path, line, quote, target):
        parts = path.split("/")
        if quote == "<":
            if not SYSTEM.fullmatch(target):
                if parts[0] in ("tools", "workflows"):
                    self.say(path, line, f"<{target}> is only for the library")
                elif parts[0] == "common":
                    self.third_party.setdefault(target, []).append((path, line))
            return
        if not os.path.isfile(os.path.join(self.root, target)):
            self.say(path, line, f'"{target}" is not a file; write paths from the top')
            return
        to = target.split("/")
        if (parts[0] in ("tools", "workflows") and to[0] != "common" and not self.is_part(parts, to)
                and target not in GENERATORS):
            self.say(path, line, f'"{target}" is not a header of the library')
        if parts[0] != "common":
            return
        if to[0] != "common" or len(to) < 3:
            self.say(path, line, f'"{target}" is outside the layers')
            return
        here, there = "/".join(parts[1:-1]), "/".join(to[1:-1])
        if here in LAYERS and here != there and there not in LAYERS[here]:
            self.say(path, line, f'"{target}": {here} must not include {there}')

    @staticmethod
    def is_part(path, target):
        """Returns true if a header in tools/TOOL/ or workflows/NAME/ is included by TOOL.c or a file in that directory."""
        return (target[0] == path[0] and len(target) == 3 and target[2].endswith(".h")
                and path[1] in (target[1], target[1] + ".c"))

    def check_includes(self, path, text):
        includes = []
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            includes.append(match.groups())
            self.check_include(path, line, *match.groups())
            self.note_modules(path, *match.groups())
        for quote, target in includes:
            topic = PRIVATE.fullmatch(target) if quote == '"' else None
            if topic and not re.fullmatch(re.escape(topic.group(1)) + r"(_[a-z0-9_]+)?\.cu?", path):
                self.say(path, 1, f'"{target}" is only for {topic.group(1)}*.c')
        own = path[:-2] + ".h"
        if path.endswith(".c") and os.path.isfile(os.path.join(self.root, own)):
            if not includes or includes[0] != ('"', own):
                self.say(path, 1, f'the first include is not "{own}"')

    def note_modules(self, path, quote, target):
        """Notes an include between modules; X.c, X.h and X_private.h are one."""
        if quote == "<" or not path.startswith(("common/", "tools/")):
            return
        module, other = (re.sub(r"(_private)?\.\w+$", "", p) for p in (path, target))
        if module != other:
            self.modules.setdefault(module, set()).add(other)

    def check_calls(self, path, text):
        names = UNSAFE + ([] if path.startswith("tests/") else SHELLING)
        if path.startswith("common/") and path not in SPEAKERS:
            names += SPEAKING
            for match in re.finditer(r"\b(stdout|stderr)\b", text):
                self.say(path, text.count("\n", 0, match.start()) + 1,
                         f"{match.group(1)} is for {' and '.join(SPEAKERS)}")
        if re.search(r"\bfork\s*\(", text):
            names = [n for n in names if n != "_exit"]  # for the child
        for match in re.finditer(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(", text):
            self.say(path, text.count("\n", 0, match.start()) + 1, f"{match.group(1)}() is banned")

    def check_layer(self, path):
        parts = path.split("/")
        directory = "/".join(parts[1:-1])
        if parts[0] == "common" and directory and directory not in LAYERS:
            self.say(path, 1, f"common/{directory}/ is not a layer")

    def check_file(self, path):
        with open(os.path.join(self.root, path), "rb") as f:
            data = f.read()
        is_c = path.endswith((".c", ".h", ".cu", ".cc"))
        is_script = data.startswith(b"#!") or path.endswith((".sh", ".py"))
        if not (is_c or is_script):
            return
        text = data.decode("utf-8", "replace")
        if "SPDX-License-Identifier: MIT" not in text:
            self.say(path, 1, "no line `SPDX-License-Identifier: MIT`")
        for match in re.finditer(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b", text):
            self.say(path, text.count("\n", 0, match.start()) + 1, f"{match.group(1)} left")
        for match in re.finditer(r"(?<![\w.])s?rand\(", text if not (is_c or path.endswith(".py")) else ""):
            self.say(path, text.count("\n", 0, match.start()) + 1, "rand() of awk differs between awks; use random.awk")
        if not is_c:
            return
        if text.count("\n") > MAX_LINES:
            self.say(path, MAX_LINES + 1, f"longer than {MAX_LINES} lines: two topics?")
        self.check_layer(path)
        self.check_includes(path, blank_comments(text))
        self.check_calls(path, blank_literals(text))

    def check_names(self, paths):
        seen = {}
        for path in paths:
            if path.endswith((".c", ".h", ".cu", ".cc", ".py", ".sh")):
                name = os.path.basename(path)
                if name in seen:
                    self.say(path, 1, f"the name is taken by {seen[name]}")
                seen.setdefault(name, path)

    def run(self):
        paths = [p for p in find_files(self.root) if "/__pycache__/" not in p]
        for path in paths:
            self.check_file(path)
        self.check_names(paths)
        for header, users in sorted(self.third_party.items()):
            sources = sorted({p for p, _ in users})
            for path, line in users:
                if path.endswith(".h") and not PRIVATE.fullmatch(path):
                    self.say(path, line, f"<{header}> in a header; include it in one .c file")
                elif path != sources[0]:
                    self.say(path, line, f"<{header}> is already included by {sources[0]}")
        for circle in find_circles(self.modules):
            self.say(circle[0], 1, "include circle of " + ", ".join(circle))
        for path, line, text in sorted(self.findings):
            print(f"{path}:{line}: {text}")
        return 1 if self.findings else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sources.py ROOT|--layers")
    if sys.argv[1] == "--layers":
        for layer, lower in LAYERS.items():
            job = layer.startswith("job/")
            print(f"{layer + '/':<21}{'everything above but compute/*/ and jobs' if job else ' '.join(lower)}")
        sys.exit()
    sys.exit(Lint(sys.argv[1]).run())
