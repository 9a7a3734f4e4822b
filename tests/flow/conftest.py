# SPDX-License-Identifier: Apache-2.0
"""Drives the program from outside. After each test nothing of it may be left: no process, temporary folder or cgroup.

What belongs to a test is told by its own temporary folder: Assay's scratch folder lies in it, and every process of a
box has a path below it in its environment. So tests may run side by side with each other and with other Assays.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("ASSAY", REPO / "build/bin/assay")).resolve()
PREFIX = PROGRAM.parent.parent
IS_SANITIZED = os.environ.get("ASSAY_SANITIZED", "OFF").upper() in ("ON", "1", "TRUE")
MIB = 1 << 20
SUFFIXES = {"python": ".py", "c": ".c", "cpp": ".cpp", "bash": ".sh"}


def shared(path):
    """A file of the shared data; the test is skipped where there is none."""
    root = pathlib.Path(os.environ.get("ASSAY_SHARED", REPO.parent / "shared"))
    if not (root / path).exists():
        pytest.skip("shared data not found: set ASSAY_SHARED")
    return root / path


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_lines(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def parent_of(pid):
    """0 when there is no such process, or only what is left of one."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
            return 0 if fields[0] == "Z" else int(fields[1])
    except OSError:
        return 0


def all_cgroups():
    return {
        os.path.join(place, name)
        for place, folders, _ in os.walk("/sys/fs/cgroup")
        for name in folders
        if name.startswith("assay-") and name[6:].isdigit()
    }


class Result:
    def __init__(self, rc, out, err):
        self.rc, self.out, self.err = rc, out, err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def text(self):
        return self.out.decode(), self.err.decode(errors="replace")

    def __repr__(self):
        return f"rc {self.rc}\nstdout: {self.out[:2000]!r}\nstderr: {self.err[-3000:].decode(errors='replace')}"


def exact(step, stream):
    """The bytes that were kept of a stream."""
    return base64.b64decode(step[f"{stream}_base64"])


class Assay:
    def __init__(self, folder):
        self.folder = folder
        self.temp = folder / "tmp"
        self.temp.mkdir()
        self.pids = []
        self.counter = 0
        self.cgroups_before = all_cgroups()

    def path(self, name):
        self.counter += 1
        return self.folder / f"{self.counter:03}-{name}"

    def environment(self, extra=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY")}
        return {**env, "TMPDIR": str(self.temp), **(extra or {})}

    def start(self, *args, env=None, wrap=(), **kw):
        process = subprocess.Popen(
            [*wrap, str(PROGRAM), *map(str, args)], env=self.environment(env), cwd=self.folder, **kw
        )
        self.pids.append(process.pid)
        return process

    def __call__(self, *args, input=b"", timeout=300, **kw):
        """Runs it to its end."""
        process = self.start(
            *args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw
        )
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"assay {args} did not end in {timeout} s\n{err.decode(errors='replace')[-2000:]}")
        return Result(process.returncode, out, err)

    def source(self, language, code):
        path = self.path("source" + SUFFIXES.get(language, ".txt"))
        path.write_bytes(code if isinstance(code, bytes) else code.encode())
        return path

    def run(self, language, code, *args, stdin=None, **kw):
        """The record of one run."""
        if stdin is not None:
            path = self.path("stdin")
            path.write_bytes(stdin if isinstance(stdin, bytes) else stdin.encode())
            args = (*args, "--stdin", path)
        result = self("run", "--json", "--base64", "--language", language, *args, self.source(language, code), **kw)
        assert result.rc in (0, 1), result
        record = result.json
        if record["run"]:
            check_invariants(record["run"])
        return record

    def step(self, language, code, *args, **kw):
        """The run step of one run."""
        record = self.run(language, code, *args, **kw)
        assert record["run"], record
        return record["run"]

    def pipeline(self, text, name="pipeline.yaml"):
        path = self.path(name)
        path.write_text(text)
        return path

    def limits(self, limits, stages="build, run", more=""):
        """A pipeline file with these limits."""
        return self.pipeline(f"pipeline: own\nisolation: none\nlimits: {{{limits}}}\nstages: [{stages}]\n{more}")

    def eval(self, dataset, completions, *args, output=None, **kw):
        """(result of the command, result lines)."""
        output = output or self.path("results.jsonl")
        result = self(
            "eval", "--dataset", dataset, "--completions", completions, "--output", output, "--quiet", *args, **kw
        )
        return result, read_lines(output) if output.exists() else []

    # -- what is left ----------------------------------------------------------------------------------------------

    def processes(self):
        mark = str(self.temp).encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                environ = pathlib.Path("/proc", entry, "environ").read_bytes()
                command = pathlib.Path("/proc", entry, "cmdline").read_bytes()
                cwd = os.readlink(f"/proc/{entry}/cwd").encode()
            except OSError:
                continue
            if mark in environ or mark in cwd:
                found.append((int(entry), command.replace(b"\0", b" ").decode(errors="replace")))
        return found

    def cgroups(self):
        """Folders of this driver's Assays, which are named by a pid, and those whose owner has gone."""
        found = []
        for path in all_cgroups() - self.cgroups_before:
            owner = int(path.rsplit("-", 1)[1])
            if owner in self.pids or parent_of(owner) in (0, *self.pids):
                found.append(path)
        return found

    def leftovers(self):
        return {
            "processes": self.processes(),
            "temporary files": sorted(os.listdir(self.temp)),
            "cgroups": self.cgroups(),
        }

    def check_clean(self, seconds=5):
        """Nothing is left; what a killed Assay leaves may take a moment to go."""
        deadline = time.monotonic() + seconds
        while any(self.leftovers().values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = self.leftovers()
        assert not any(left.values()), f"left behind: {left}"


def check_invariants(step):
    """True of every step: the numbers are there, and a limit is named exactly when it was hit."""
    for key in ("wall_ms", "cpu_ms", "memory_peak_bytes", "stdout_bytes", "stderr_bytes"):
        assert step[key] is not None and step[key] >= 0, (key, step[key])
    for stream in ("stdout", "stderr"):
        assert step[f"{stream}_truncated"] == (step[f"{stream}_bytes"] > len(exact(step, stream)))
    assert (step["limit_hit"] is not None) == step["status"].endswith("_limit"), step
    assert step["status"] != "error", step.get("error")
    if step["status"] == "signalled":
        assert step["signal"] > 0


@pytest.fixture
def assay():
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is not built")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flow-"))
    driver = Assay(folder)
    yield driver
    try:
        driver.check_clean()
    finally:
        for pid, _ in driver.processes():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        subprocess.run(["chmod", "-R", "u+rwx", folder], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def memory_mechanism():
    """How this host holds a memory limit: "cgroup-v1", "cgroup-v2" or "rlimit"."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Assay(pathlib.Path(folder))
        return driver.run("bash", "true")["box"]["protections"]["memory"]


@pytest.fixture
def memory_cgroup(memory_mechanism):
    if not memory_mechanism.startswith("cgroup"):
        pytest.skip(f"no memory cgroup here: memory is held by {memory_mechanism}")
