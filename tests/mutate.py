"""mutate.py - mutation testing: changes one operator, number or statement of common/, and runs the tests of that file.

  mutate.py [-n N] [--seed N] [--minutes M] [--list] [--work DIR] [FILE | DIRECTORY | FILE:LINE:COLUMN:CHANGE]...
  mutate.py --cover OBJECTS TEST...

Needs the environment and the programs that `make mutate` provides. Takes N changes (default 200), the same number from each
directory, and in it from the files and kinds of changes in turn; the same seed takes the same ones. compute/cuda is left out, and
so are kernels that this CPU cannot run. A changed file goes into a library in DIR (build/mutate), which tests load instead of lib/.
Sources and programs must not change while it runs: work in another clone.
Tests of a change: those that run its line, if DIR/lines.json is there, which --cover writes (`make mutate-lines`); else, or if it says
none, the unit tests that include its file's header, or use a function of it, and scripts of the tools that include it, those with a word of its
name first, then those of tools that include it most directly. Unit tests come first, and of both kinds as many as take BUDGET
seconds of CPU time. Each ends at its first failure. Results:
  killed    a test fails, crashes, or takes five times as long as usual
  survived  no test notices: write one
  equal     the compiler makes the same code of it
  invalid   it does not compile
Each is a line of DIR/results.tsv, too, which is kept: a table of all results is printed at the end. A change that survived, but
cannot be noticed (a buffer's first size, a longer wait), is marked in that file by hand: "equivalent" instead of "survived".
SPDX-License-Identifier: MIT"""
import argparse
import collections
import glob
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

BUDGET, SLOWEST, MEMORY = 40, 90, 12 << 30
WITHOUT = ("common/compute/cuda/", "common/examples/ranks_mpi.c")

Change = collections.namedtuple("Change", "file line column what text")  # text: the new line

# ---------------------------------------------------------------- changes

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/",
         "/": "*", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
OPERATOR = re.compile(r"(?<= )(%s)(?= \S)" % "|".join(re.escape(op) for op in sorted(SWAPS, key=len, reverse=True)))
NUMBER = re.compile(r"(?<![\w.])\d+(?=[uUlL]*(?![\w.]))")
CONDITION = re.compile(r"^( *(?:} else )?if \()(.*)(\)(?: {)?)$")
STATEMENT = re.compile(r"^ +(?! |return|break|goto|continue|case|default|else|do\b|struct|const|static|enum|union)"
                       r"(?:[^=;{}]* [-+*/|&^<>]*= [^{}]*|[\w.>\[\]-]+\(.*\)|\*?[\w.>\[\]-]+(?:\+\+|--));$")
DECLARATION = re.compile(r"^ +(?:unsigned |signed |long )?[A-Za-z_]\w* \**[A-Za-z_]\w*(?:\[.*\])?(?: =|,|;)")
FAILURE = re.compile(r"\breturn (?=.*(?:cov_fail\w*\(|\bCOV_E(?!NOMEM)[A-Z]+\b))")


def blank(text):
    """Comments, strings and preprocessor lines as spaces."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", spaces, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", spaces, text, flags=re.M)


def changes_of(file):
    with open(file) as f:
        text = f.read()
    lines, code = text.split("\n"), blank(text).split("\n")
    found, depth, head, before = [], 0, "", ""
    for number, (line, bare) in enumerate(zip(lines, code), 1):
        inside = depth > 0 and not re.match(r"(struct|union|enum|static const|const)\b[^(]*$", head)
        if depth == 0 and re.match(r"\w", bare):
            head = bare
        depth += bare.count("{") - bare.count("}")
        if inside and bare.strip():
            def add(at, what, beg, end, new):
                found.append(Change(file, number, at + 1, what, line[:beg] + new + line[end:]))
            for m in OPERATOR.finditer(bare):
                if m[0] != "*" or not re.match(r" +[\w ]+ $", bare[:m.start()]):  # no declaration of a pointer
                    add(m.start(), "%s %s" % (m[0], SWAPS[m[0]]), m.start(), m.end(), SWAPS[m[0]])
            for m in NUMBER.finditer(bare):
                add(m.start(), "%s+1" % m[0], m.start(), m.end(), str(int(m[0]) + 1))
            m = CONDITION.match(bare)
            if m and m[2].count("(") == m[2].count(")"):
                add(m.end(1), "not", m.end(1), m.end(2), "!(%s)" % line[m.end(1):m.end(2)])
            m = FAILURE.search(bare)
            if m:
                add(m.start(), "no failure", m.end(), m.end(), "1 ? 0 : ")
            if STATEMENT.match(bare) and bare.count("(") == bare.count(")") and before[-1:] in ";{}):" and not DECLARATION.match(bare):
                at = len(line) - len(line.lstrip())
                add(at, "removed", at, len(line), ";")
        before = bare.rstrip() or before
    return found


def kind(change):
    words = change.what.split()
    return "number" if change.what.endswith("+1") else {"<": "compare", "<=": "compare", ">": "compare", ">=": "compare", "==": "equal",
        "!=": "equal", "&&": "logic", "||": "logic"}.get(words[0], "arithmetic" if words[0] in SWAPS else change.what)


def spread(changes, n, rng):
    """n of the changes: of directories in turn, in these of files in turn, in these of kinds in turn."""
    def in_turn(items, keys):
        if not keys:
            return rng.sample(items, len(items))
        groups = collections.defaultdict(list)
        for item in items:
            groups[keys[0](item)].append(item)
        queues = [in_turn(group, keys[1:]) for _, group in sorted(groups.items())]
        rng.shuffle(queues)
        return [queue[i] for i in range(max(map(len, queues))) for queue in queues if i < len(queue)]
    return in_turn(changes, [lambda c: os.path.dirname(c.file), lambda c: c.file, kind])[:n]


# ---------------------------------------------------------------- tests of a line

def cover(objects, tests, work):
    """Runs each test with programs that count the lines they run, whose objects are in OBJECTS, and writes which it runs."""
    counts, lines = work + "/counts", {"code": {}, "tests": {}}
    notes = [os.path.relpath(f, objects) for f in glob.glob(objects + "/common/**/*.gcno", recursive=True)]
    for test in tests:
        shutil.rmtree(counts, ignore_errors=True)
        for note in notes:
            os.makedirs(os.path.dirname("%s/%s" % (counts, note)), exist_ok=True)
            os.symlink("%s/%s" % (objects, note), "%s/%s" % (counts, note))
        env = dict(os.environ, GCOV_PREFIX=counts, GCOV_PREFIX_STRIP=str(objects.count("/")))
        failed = subprocess.run(test, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        run = collections.defaultdict(set)
        found = [os.path.relpath(f, counts) for f in glob.glob(counts + "/common/**/*.gcda", recursive=True)]
        said = found and subprocess.run(["gcov", "--json-format", "--stdout", *found], cwd=counts, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in said.splitlines() if found else ():
            for f in json.loads(line)["files"]:
                if f["file"].startswith("common/"):
                    lines["code"].setdefault(f["file"], sorted({x["line_number"] for x in f["lines"]}))
                    run[f["file"]] |= {x["line_number"] for x in f["lines"] if x["count"]}
        name = os.path.basename(test)
        lines["tests"][name] = {f: sorted(n) for f, n in run.items() if n}
        print("%s\t%d lines%s" % (name, sum(map(len, run.values())), ", fails" if failed else ""), flush=True)
        with open(work + "/lines.json", "w") as f:
            json.dump(lines, f)


def read(file):
    with open(file) as f:
        return f.read()


class Tests:
    def __init__(self):
        self.includes = {f: re.findall(r'^#include "((?:common|tools)/[^"]+)"', read(f), re.M)
                         for top in ("common", "tools") for f in glob.glob(top + "/**/*.[ch]", recursive=True)}
        self.sources = collections.defaultdict(list)  # of a header: the files that include it first
        for file, headers in self.includes.items():
            if file.endswith(".c") and headers:
                self.sources[headers[0]].append(file)
        self.units = {f: read(f) for f in sorted(glob.glob("tests/unit/test_*.c"))}
        self.tools = {os.path.basename(f)[:-2]: self.distances(f) for f in glob.glob("tools/*.c")}

    def distances(self, tool):
        """How many steps from including file to included file it takes from a tool to each file."""
        steps, todo = {}, [(tool, 0)] + [(f, 0) for f in glob.glob(tool[:-2] + "/*.c")]
        while todo:
            file, n = todo.pop(0)
            if file not in steps:
                steps[file] = n
                todo += [(f, n + 1) for f in self.includes.get(file, ())] + [(f, n) for f in self.sources[file]]
        return steps

    def unit(self, file):
        headers = self.includes[file][:1]
        defined = set(re.findall(r"^\S.*?\b(cov_\w+)\(", read(file), re.M))
        own = os.path.basename(file)[:-2]
        names = [f for f, text in self.units.items()
                 if any('"%s"' % h in text for h in headers) or defined & set(re.findall(r"\bcov_\w+", text))]
        names.sort(key=lambda f: (own not in f, len(defined & set(re.findall(r"\bcov_\w+", self.units[f]))) == 0))
        return [os.path.basename(f)[:-2] for f in names]

    def scripts(self, file):
        words = set(re.split(r"[/_.]", file[7:-2]))
        found = []
        for path in sorted(glob.glob("tests/cli/*.t")):
            name = os.path.basename(path)[:-2]
            n = self.tools.get(name.split("_")[0], {}).get(file)
            matches = words & {w.rstrip("s") for w in name.split("_")} | words & set(name.split("_"))
            if n is not None or matches:
                found.append((not matches, 99 if n is None else n, name + ".t"))
        return [name for _, _, name in sorted(found)]


# ---------------------------------------------------------------- running

class Runner:
    def __init__(self, work):
        self.work, self.tmp, self.out = work, work + "/tmp", work + "/out"
        os.makedirs(work + "/lib", exist_ok=True)
        shutil.copy2("lib/libcov.so.0", work + "/lib")
        self.env = dict(os.environ, LD_LIBRARY_PATH=work + "/lib", TMPDIR=self.tmp)
        for name in "MAKEFLAGS", "MAKELEVEL", "MFLAGS":
            self.env.pop(name, None)
        said = subprocess.run(["make", "-Bn", "all"], stdout=subprocess.PIPE, text=True, env=self.env).stdout.replace("\\\n", "")
        lines = [shlex.split(line) for line in said.split("\n") if re.match(r"\S*(cc|gcc|clang)\S* .* -o ", line)]
        self.compilers = {words[-1]: words for words in lines if "-c" in words}
        self.link = next(words for words in lines if "lib/libcov.so.0" in words)
        self.objects, self.times_file = {}, work + "/times.json"
        self.times = json.loads(read(self.times_file)) if os.path.exists(self.times_file) else {}
        self.tests = Tests()
        self.lines = json.loads(read(work + "/lines.json")) if os.path.exists(work + "/lines.json") else None

    def compile(self, file, text, to):
        words = list(self.compilers[file])
        words[words.index("-o") + 1] = to
        words.remove("-MMD")
        words.remove("-MP")
        return subprocess.run([*words[:-1], "-g0", "-w", "-I", os.path.dirname(file), "-x", "c", "-"], input=text, text=True,
                              stderr=subprocess.DEVNULL).returncode == 0

    def run(self, test, limit):
        """Returns "passed", "skipped", or what failed, and the CPU time."""
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        command = ["tests/cli/" + test] if test.endswith(".t") else ["build/default/tests/" + test]
        os.makedirs(self.tmp, exist_ok=True)
        with open(self.out, "w") as out:
            p = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=limits, start_new_session=True)
        end, result, pid, status, usage = time.monotonic() + 60 * limit, None, 0, 0, None
        while not result:
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            with open(self.out, errors="replace") as f:
                lines = f.read().split("\n")[:-1]
            result = next((x for x in lines if x.startswith("not ok")), None)
            if not result and pid:
                code = os.waitstatus_to_exitcode(status)
                result = "skipped" if lines and lines[-1].startswith("1..0") else "passed" if code == 0 else "status %d" % code
            elif time.monotonic() > end:
                result = result or "does not end"
            if not result:
                time.sleep(0.02)
        try:
            os.killpg(p.pid, signal.SIGKILL)  # a session of its own
        except ProcessLookupError:
            pass
        if not pid:
            _, status, usage = os.wait4(p.pid, 0)
        p.returncode = status
        subprocess.run(["chmod", "-R", "u+rwx", self.tmp], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.tmp, ignore_errors=True)
        return result, usage.ru_utime + usage.ru_stime

    def time(self, test):
        """The CPU time of a test with the unchanged library; None if it fails, is skipped or is too slow."""
        if test not in self.times:
            shutil.copy2("lib/libcov.so.0", self.work + "/lib/")
            result, seconds = self.run(test, SLOWEST)
            self.times[test] = seconds if result == "passed" else None
            with open(self.times_file, "w") as f:
                json.dump(self.times, f)
            if result != "passed":
                print("# %s is left out: %s" % (test, result), flush=True)
        return self.times[test]

    def of_line(self, file, line):
        """The unit tests and the scripts that run a line, the fastest first."""
        line = max((n for n in self.lines["code"].get(file, ()) if n <= line), default=0)
        names = [name for name, run in self.lines["tests"].items() if line in run.get(file, ()) and self.time(name) is not None]
        names.sort(key=self.time)
        return [[name for name in names if name.endswith(".t") == script] for script in (False, True)]

    def chosen(self, file, line):
        """The tests of a line, within the budget."""
        of_line = self.of_line(file, line) if self.lines else ()
        for names in of_line if any(of_line) else (self.tests.unit(file), self.tests.scripts(file)):
            spent = 0
            for name in names:
                seconds = self.time(name) if spent < BUDGET else None
                if seconds is not None and spent + seconds <= BUDGET:
                    spent += seconds
                    yield name

    def judge(self, change):
        """Returns the result, the test that noticed, and what it says."""
        file, new = change.file, self.work + "/new.o"
        text = read(file)
        if file not in self.objects:
            if not self.compile(file, text, new):
                sys.exit("mutate.py: %s does not compile" % file)
            with open(new, "rb") as f:
                self.objects[file] = f.read()
        lines = text.split("\n")
        lines[change.line - 1] = change.text
        if not self.compile(file, "\n".join(lines), new):
            return "invalid", "", ""
        with open(new, "rb") as f:
            if f.read() == self.objects[file]:
                return "equal", "", ""
        tests = list(self.chosen(file, change.line))
        old = "build/default/obj/%s.o" % file[:-2]
        words = [new if w == old else w for w in self.link]
        words[words.index("-o") + 1] = self.work + "/lib/libcov.so.0"
        subprocess.run(words, check=True)
        for test in tests:
            result, _ = self.run(test, int(5 * self.times[test]) + 5)
            if result not in ("passed", "skipped"):
                return "killed", test, result
        return "survived", "", ""


def table(results):
    counts = collections.defaultdict(collections.Counter)
    for line in read(results).split("\n")[:-1]:
        result, place = line.split("\t")[:2]
        counts[os.path.dirname(place.split(":")[0])][result] += 1
    print("%-28s%8s%10s%12s%7s%9s%6s" % ("directory", "killed", "survived", "equivalent", "equal", "invalid", "%"))
    for name, c in [*sorted(counts.items()), ("all", sum(counts.values(), collections.Counter()))]:
        n = c["killed"] + c["survived"]
        print("%-28s%8d%10d%12d%7d%9d%6s" % (name, c["killed"], c["survived"], c["equivalent"], c["equal"], c["invalid"], "%.0f" % (100 * c["killed"] / n) if n else "-"))


def can_run(file, levels):
    m = re.search(r"_(avx2|avx512\w*|amx)\.c$", file)
    return not m or re.match("avx2|avx512(?!bf16)|avx512bf16|amx", m[1])[0] in levels


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--minutes", type=float, default=1e9)
    p.add_argument("--list", action="store_true")
    p.add_argument("--work", default="build/mutate")
    p.add_argument("--cover", metavar="OBJECTS")
    p.add_argument("paths", nargs="*", default=["common"])
    o = p.parse_args()
    if o.cover:
        os.makedirs(o.work, exist_ok=True)
        return cover(os.path.abspath(o.cover), o.paths, os.path.abspath(o.work))
    levels = subprocess.run(["bin/covpredict", "--version"], stdout=subprocess.PIPE, text=True).stdout
    levels = re.search("^--cpu: (.*)", levels, re.M)[1].split()
    files = sorted(f for path in o.paths for f in
                   ([path.split(":")[0]] if ".c" in path else glob.glob(path + "/**/*.c", recursive=True)) if not f.startswith(WITHOUT))
    changes = [c for file in dict.fromkeys(files) if can_run(file, levels) for c in changes_of(file)]
    single = [path for path in o.paths if ":" in path]
    chosen = [c for c in changes if "%s:%d:%d:%s" % c[:4] in single] if single else spread(changes, o.n, random.Random(o.seed))
    print("# %d of %d changes" % (len(chosen), len(changes)), flush=True)
    if o.list:
        for c in chosen:
            print("%s:%d:%d:%s\t%s" % (*c[:4], c.text.strip()))
        return
    runner, end, results = Runner(os.path.abspath(o.work)), time.monotonic() + 60 * o.minutes, os.path.abspath(o.work) + "/results.tsv"
    known = {line.split("\t")[1] for line in read(results).split("\n")[:-1]} if os.path.exists(results) and not single else set()
    for change in chosen:
        place = "%s:%d:%d:%s" % change[:4]
        if time.monotonic() > end:
            break
        if place not in known:
            result, *why = runner.judge(change)
            line = "\t".join((result, place, change.text.strip(), *why))
            print(line, flush=True)
            if not single:
                with open(results, "a") as f:
                    f.write(line + "\n")
    if os.path.exists(results):
        table(results)


if __name__ == "__main__":
    main()
