# SPDX-License-Identifier: Apache-2.0
"""CPU time of the whole tree decides "too slow", the clock is the safety net, and no program can forge either."""
import os
import subprocess
import sys
import time

import pytest
from conftest import write_lines

BUSY = "while True: pass"


@pytest.mark.parametrize(
    "code",
    [
        BUSY,
        "import itertools; max(itertools.product(range(64), repeat=10))",
        "x = 3 ** (10 ** 9)",
        "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
        "import threading\nfor i in range(3): threading.Thread(target=lambda: sum(iter(int, 1))).start()\n",
    ],
)
def test_busy_programs_end(assay, code):
    """Long calls into C ignore an interpreter's alarm; limits within the program's process do not hold."""
    step = assay.step("python", code, "--cpu", "1")
    assert step["status"] == "time_limit" and step["limit_hit"] == "cpu"
    assert step["cpu_ms"] >= 1000


def test_a_sleeper_ends(assay):
    """What uses no CPU time is ended by the clock."""
    step = assay.step("python", "import time; time.sleep(600)", "--timeout", "1")
    assert (step["status"], step["limit_hit"]) == ("time_limit", "wall")
    assert step["wall_ms"] >= 1000 and step["cpu_ms"] < 1000


def test_cpu_time_of_grandchildren_counts(assay):
    """Measuring the main process alone, or only children that were waited for, misses where the work is done."""
    code = "import os, time\nif os.fork() == 0:\n  if os.fork() == 0:\n    while True: pass\n  time.sleep(600)\ntime.sleep(600)"
    step = assay.step("python", code, "--cpu", "1")
    assert (step["status"], step["limit_hit"]) == ("time_limit", "cpu") and step["cpu_ms"] >= 1000
    # Short-lived children, none of which reaches the limit.
    step = assay.step("bash", "while :; do (i=0; while ((i < 20000)); do ((i++)); done); done", "--cpu", "1")
    assert (step["status"], step["limit_hit"]) == ("time_limit", "cpu")
    # Children in sessions of their own that nobody waits for.
    step = assay.step("bash", "for i in 1 2; do setsid bash -c 'while :; do :; done' & done; sleep 600", "--cpu", "1")
    assert (step["status"], step["limit_hit"]) == ("time_limit", "cpu")


def test_a_busy_neighbour_does_not_hold_up_others(assay):
    """Busy loops on every processor and one small program: it gets its turn."""
    busy = [assay.start("run", "--timeout", "8", assay.source("python", BUSY)) for _ in range(2 * os.cpu_count())]
    try:
        assert assay.step("python", "print(1)", "--timeout", "8")["stdout"] == "1\n"
    finally:
        for process in busy:
            process.wait(timeout=120)
    assert {process.returncode for process in busy} == {124}


@pytest.mark.parametrize("name", ["SIGXCPU", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGKILL", "SIGTERM", "SIGXFSZ", "SIGABRT"])
def test_a_signal_to_oneself_is_no_limit(assay, name):
    """A program that kills itself the way a judge would makes the judge say "time limit"."""
    code = f"import os, signal; signal.signal(signal.{name}, signal.SIG_DFL) if '{name}' != 'SIGKILL' else 0\n" \
           f"os.kill(os.getpid(), signal.{name})"
    step = assay.step("python", code)
    number = int(getattr(__import__("signal"), name))
    assert (step["status"], step["signal"], step["return_code"]) == ("signalled", number, -number)
    assert step["limit_hit"] is None
    assert assay("run", assay.source("python", code)).rc == 128 + number


def test_a_kill_by_a_child_is_no_limit(assay):
    """Nor when it comes from elsewhere in the program's own tree."""
    step = assay.step("bash", "(kill -9 $$) & sleep 600")
    assert (step["status"], step["signal"]) == ("signalled", 9)


def test_a_raised_own_timer_does_not_extend_the_limit(assay):
    """A limit that the program can change is none."""
    code = "import resource as r\ntry: r.setrlimit(r.RLIMIT_CPU, (r.RLIM_INFINITY, r.RLIM_INFINITY))\n" \
           "except Exception: pass\nwhile True: pass"
    assert assay.step("python", code, "--cpu", "1")["status"] == "time_limit"


def test_verdicts_do_not_depend_on_load(assay):
    """Limits on the clock flip verdicts on busy machines: the same job alone and with four times the load."""
    code = "import time\nwhile time.process_time() < 0.4: pass\nprint('done')"
    load = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(4 * os.cpu_count())]
    try:
        steps = [assay.step("python", code, "--cpu", "2") for _ in range(8)]
    finally:
        for process in load:
            process.kill()
            process.wait()
    steps += [assay.step("python", code, "--cpu", "2") for _ in range(4)]
    assert {(step["status"], step["stdout"]) for step in steps} == {("finished", "done\n")}


def test_timeouts_are_honoured(assay):
    """A default that acts instead of the value that was given."""
    assert assay.step("python", "import time; time.sleep(4); print(1)", "--timeout", "60")["stdout"] == "1\n"
    for value in ("0.25", "250ms"):
        step = assay.step("python", "import time; time.sleep(30)", f"--timeout={value}")
        assert step["status"] == "time_limit" and 250 <= step["wall_ms"] < 20000


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e9", "1e-300", "", "abc", "5 apples", "0x10", "1_000"])
@pytest.mark.parametrize("option", ["--timeout", "--cpu"])
def test_wrong_times_are_usage_errors(assay, option, value):
    """Zero, negative, not a number, huge: an error that names the option, never another limit in silence."""
    result = assay("run", f"{option}={value}", assay.source("python", "print(1)"))
    assert result.rc == 2 and option.encode() in result.err and result.out == b"", result


def test_time_limit_gives_124(assay):
    """`assay run` passes the program's own code on; a time limit is told apart as timeout(1) does."""
    result = assay("run", "--timeout", "1", assay.source("bash", "echo partial; sleep 60"))
    assert (result.rc, result.out) == (124, b"partial\n") and b"limit" in result.err


def test_a_program_that_catches_everything_ends(assay):
    """An exception raised into the program to stop it can be caught."""
    code = "import signal, sys\nfor s in range(1, 32):\n  try: signal.signal(s, lambda *a: None)\n" \
           "  except (OSError, ValueError): pass\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass"
    assert assay.step("python", code, "--cpu", "1")["status"] == "time_limit"


def test_builds_have_limits_of_their_own(assay):
    """A compiler can be made to run for ever or to fill the memory; a program's limits are not the compiler's."""
    own = assay.pipeline(
        "pipeline: own\nisolation: none\nbuild_limits: {cpu: 2s, wall: 20s, file: 64MiB, memory: 512MiB}\n"
        "stages: [build, run]\n"
    )
    hostile = {
        "assembler": '__asm__(".rept 1000000000\\n nop\\n .endr");\nint main(void) { return 0; }',
        "include": '#include "/dev/zero"\nint main(void) { return 0; }',
        "input": '#include "/dev/stdin"\n#include "main.c"\nint main(void) { return 0; }',
        "macros": "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\nint a[] = { B(B(B(1,))) };\n"
                  "int main(void) { return 0; }",
    }
    for name, code in hostile.items():
        record = assay.run("c", code, "--pipeline", own)
        assert record["run"] is None, name
        build = record["build"]
        assert build["status"] != "error" and (build["status"] != "finished" or build["return_code"] != 0), (name, build)
    # One second of CPU time for the program does not cut the compiler's.
    assert assay.step("cpp", '#include <bits/stdc++.h>\nint main() { puts("ok"); }', "--cpu", "1")["stdout"] == "ok\n"


def test_a_batch_with_hostile_items_ends(assay):
    """A batch that hangs on its last items, or stops half way without a word: each item gets its outcome."""
    tests = [{"input": {"stdin": ""}, "output": {"stdout": "ok"}}]
    dataset = write_lines(assay.path("d.jsonl"), [{"id": i, "content": "", "test": tests} for i in range(60)])
    hostile = {
        0: BUSY,
        13: "import os, time\nos.setsid() if os.fork() == 0 else 0\ntime.sleep(600)",
        14: "import os; os.kill(os.getpid(), 19)",
        29: "import sys\nwhile True: sys.stdout.write('y' * 65536)",
        58: "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
        59: "import os; os.close(1); os.close(2)",
    }
    rows = [{"id": i, "completion": hostile.get(i, "print('ok')")} for i in range(60)]
    own = assay.limits("cpu: 1s, wall: 3s, memory: 256MiB", "extract, build, run, judge")
    begin = time.monotonic()
    result, lines = assay.eval(
        dataset, write_lines(assay.path("c.jsonl"), rows), "--type", "stdio", "--set", "extract=none", "--language",
        "python", "--pipeline", own,
    )
    assert result.rc == 0 and sorted(line["id"] for line in lines) == list(range(60)), result
    outcomes = {line["id"]: line["outcome"] for line in lines}
    assert {i for i, outcome in outcomes.items() if outcome != "accepted"} == set(hostile)
    assert "infrastructure" not in outcomes.values()
    assert [outcomes[i] for i in (0, 13, 14, 29)] == ["time_limit"] * 3 + ["output_limit"]
    assert time.monotonic() - begin < 120
