# SPDX-License-Identifier: Apache-2.0
"""The memory limit holds for the whole tree, and only the kernel's own counter makes a memory verdict."""
import os
import subprocess

import pytest
from conftest import IS_SANITIZED, MIB

HOG = "x = bytearray({0} << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n"


def test_one_process_over_the_limit(assay, memory_cgroup):
    """Users must not have to infer it from exit code 137."""
    step = assay.step("python", HOG.format(1024), "--memory", "256MiB")
    assert (step["status"], step["limit_hit"]) == ("memory_limit", "memory")
    assert 200 * MIB < step["memory_peak_bytes"] <= 256 * MIB


def test_a_tree_over_the_limit(assay, memory_cgroup):
    """A limit for each process lets four workers hold four times the cap."""
    code = "import os, time\nfor i in range(4):\n  if os.fork() == 0:\n    x = bytearray(b'1') * (100 << 20)\n" \
           "    time.sleep(3); os._exit(0)\nfor i in range(4): os.wait()\n"
    step = assay.step("python", code, "--memory", "256MiB", "--timeout", "60")
    assert step["status"] == "memory_limit"


def test_below_the_limit_is_fine(assay, memory_cgroup):
    """The limit is the limit: what stays below it runs."""
    step = assay.step("python", HOG.format(150), "--memory", "256MiB")
    assert (step["status"], step["return_code"]) == ("finished", 0)
    assert 150 * MIB < step["memory_peak_bytes"] < 256 * MIB


def test_a_child_that_is_killed_for_memory_is_a_memory_limit(assay, memory_cgroup):
    """The main process may live on while the kernel kills a child of it: the counter says so, no signal does."""
    code = "import subprocess, sys\nprint(subprocess.call([sys.executable, '-c', 'x=b\"1\"*(1<<30)']))\n"
    step = assay.step("python", code, "--memory", "128MiB")
    assert step["status"] == "memory_limit"


def test_abort_is_a_signal(assay):
    """SIGABRT tells nothing about memory."""
    step = assay.step("c", "#include <stdlib.h>\nint main(void) { abort(); }")
    assert (step["status"], step["signal"]) == ("signalled", 6)
    step = assay.step("c", "#include <assert.h>\nint main(void) { assert(0); }")
    assert (step["status"], step["signal"]) == ("signalled", 6)


def test_a_refused_allocation_is_the_programs_own_error(assay):
    """A request for a terabyte is refused without the limit having been reached."""
    step = assay.step("cpp", "#include <vector>\nint main() { std::vector<char> v(1ull << 45); return v[7]; }")
    assert (step["status"], step["signal"]) == ("signalled", 6) and "bad_alloc" in step["stderr"]
    step = assay.step("python", "bytearray(1 << 45)")
    assert (step["status"], step["return_code"]) == ("finished", 1) and "MemoryError" in step["stderr"]


def test_a_null_pointer_is_a_signal(assay):
    """Nor does SIGSEGV."""
    step = assay.step("c", "int main(void) { return *(volatile int *)0; }")
    assert (step["status"], step["signal"]) == ("signalled", 11)


def test_endless_recursion_is_no_hang(assay):
    """A stack that overflows ends with a signal, at the latest when memory does."""
    code = "int f(volatile int n) { volatile char b[1000]; b[0] = (char)n; return f(n + 1) + b[0]; }\n"
    step = assay.step("c", code + "int main(void) { return f(0); }")
    assert step["status"] in ("signalled", "memory_limit")


def test_limits_one_after_the_other(assay, memory_cgroup):
    """The order in which memory and memory+swap limits are written decides whether the second one takes."""
    for size in (16, 32, 16):
        step = assay.step("bash", "head -c 200M /dev/zero | tail -c 100M | wc -c", "--memory", f"{size}MiB")
        assert step["status"] == "memory_limit", size
        assert step["memory_peak_bytes"] <= size * MIB


@pytest.mark.parametrize("size", ["4MiB", "8MiB", "16MiB"])
def test_small_limits(assay, size):
    """A limit in which no program can start must not look like a fault of the program."""
    own = assay.limits(f"memory: {size}", more="build_limits: {memory: 1GiB}\n")
    record = assay.run("c", '#include <stdio.h>\nint main(void) { puts("hello"); }', "--pipeline", own)
    step = record["run"]
    assert step["status"] == "memory_limit" or (step["status"], step["stdout"]) == ("finished", "hello\n"), step


@pytest.mark.parametrize("size", ["0", "1MiB", "-1MiB", "100", "1e3MiB", "99999999999GiB", "x", ""])
def test_wrong_sizes_are_usage_errors(assay, size):
    """A limit that is not understood must never silently be another one."""
    result = assay("run", f"--memory={size}", assay.source("python", "print(1)"))
    assert result.rc == 2 and b"--memory" in result.err, result


@pytest.mark.skipif(IS_SANITIZED, reason="a sanitized program needs more address space than that")
def test_lowered_hard_limits(assay):
    """Where a hard limit is lowered already, raising one above it fails, and so would every run."""
    source = assay.source("python", "print('hi')")
    for limits in ("ulimit -Hs 8192", "ulimit -Hv 8000000", "ulimit -Hn 64", "ulimit -Hc 0; ulimit -Hf 100000"):
        result = assay("run", "--memory", "1GiB", source, wrap=["bash", "-c", limits + '; exec "$@"', "bash"])
        assert (result.rc, result.out) == (0, b"hi\n"), (limits, result)


def test_file_size_is_limited(assay):
    """Limits on memory do not bound what is written to disk."""
    own = assay.limits("file: 1MiB")
    step = assay.step("bash", "head -c 2000000 /dev/zero >big; echo $?; stat -c %s big", "--pipeline", own)
    assert int(step["stdout"].split()[-1]) <= MIB


def test_each_number_names_its_source(assay, memory_mechanism):
    """A fallback that changes a number's meaning without a word makes numbers worthless."""
    protections = assay.run("bash", "true")["box"]["protections"]
    assert protections["memory"] in ("cgroup-v1", "cgroup-v2", "rlimit")
    assert {"memory", "processes"} <= set(protections)


def read_only_cgroups():
    """A wrapper that hides the way to make cgroups; None where mounting is not allowed."""
    script = 'for d in $(awk \'$3 ~ /^cgroup/ {print $2}\' /proc/mounts); do mount -o remount,bind,ro "$d" || exit 99; done'
    probe = subprocess.run(["unshare", "-m", "bash", "-c", script], capture_output=True, check=False)
    if probe.returncode or not os.access("/sys/fs/cgroup", os.F_OK):
        return None
    return ["unshare", "-m", "bash", "-c", script + '; exec "$@"', "bash"]


def test_without_cgroups_it_is_said(assay, memory_cgroup):
    """When cgroups cannot be used, running on with weaker limits and saying nothing is the fault."""
    wrap = read_only_cgroups()
    if not wrap:
        pytest.skip("mounts cannot be changed here")
    record = assay.run("python", "print('hi')", wrap=wrap)
    assert record["run"]["stdout"] == "hi\n"
    assert record["box"]["protections"]["memory"] == "rlimit"
    # An allocation over the limit is refused then; nothing but the cgroup's counter makes a memory limit.
    assert assay.step("python", HOG.format(1024), "--memory", "256MiB", wrap=wrap)["status"] in ("finished", "signalled")
    required = assay.limits("memory: 256MiB", more="require: [memory-cgroup]\n")
    result = assay("run", "--pipeline", required, assay.source("python", "print('hi')"), wrap=wrap)
    assert result.rc == 4 and b"memory" in result.err and b"hi" not in result.out, result
    assert assay("run", "--pipeline", required, assay.source("python", "print('hi')")).out == b"hi\n"
    # A tree is still counted and ended.
    step = assay.step("bash", "setsid sleep 604 & sleep 0.2; echo done", wrap=wrap)
    assert step["stdout"] == "done\n"
