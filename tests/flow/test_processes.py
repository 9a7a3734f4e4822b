# SPDX-License-Identifier: Apache-2.0
"""A run ends when its main process ends, and then nothing of it is left, however its processes were started."""
import os
import signal
import subprocess
import time

import pytest
from conftest import REPO, exact, parent_of, read_lines, write_lines

DAEMON = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "600"])
    os._exit(0)
os.wait()
"""


def test_a_daemon_does_not_outlive_its_run(assay):
    """A child that has left session and process group survives a kill of the group."""
    step = assay.step("python", DAEMON + "print('answer')")
    assert (step["status"], step["return_code"], step["stdout"]) == ("finished", 0, "answer\n")
    assert step["wall_ms"] < 60000


def test_a_daemon_does_not_outlive_a_time_limit(assay):
    """The same when the run is ended by us."""
    step = assay.step("python", DAEMON + "import time; time.sleep(600)", "--timeout", "1")
    assert step["status"] == "time_limit"


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess; subprocess.Popen(['sleep','300']); print('answer')",
        "import subprocess; subprocess.Popen(['sleep','300'], start_new_session=True); print('answer')",
        "import os\nfor i in range(5):\n  if os.fork() == 0: os.execvp('sleep', ['sleep', '300'])\nprint('answer')",
    ],
)
def test_a_child_that_holds_stdout_does_not_delay_the_end(assay, code):
    """Waiting for the end of the output instead of the end of the program is a false time limit."""
    step = assay.step("python", code, "--timeout", "100")
    assert (step["status"], step["return_code"], step["stdout"]) == ("finished", 0, "answer\n")
    assert step["left_processes"] >= 1 and step["wall_ms"] < 60000


def test_what_left_children_wrote_before_the_end_is_kept(assay):
    """The drain is bounded, but it is a drain: what was written before the end is read."""
    code = "(echo child; sleep 300) & sleep 0.5; echo parent"
    step = assay.step("bash", code)
    assert step["stdout"] == "child\nparent\n"


def test_children_that_ignore_signals_end(assay):
    """SIGTERM and the like can be ignored; an end that asks first never comes."""
    code = "import signal, time\nfor s in (1, 2, 3, 13, 14, 15, 24): signal.signal(s, signal.SIG_IGN)\ntime.sleep(600)"
    step = assay.step("python", code, "--timeout", "1")
    assert (step["status"], step["limit_hit"]) == ("time_limit", "wall")


def test_a_program_that_stops_itself_ends(assay):
    """A stopped process handles no signal but SIGKILL, and must not be taken for one that has ended."""
    step = assay.step("python", "import os; os.kill(os.getpid(), 19)", "--timeout", "1")
    assert (step["status"], step["limit_hit"]) == ("time_limit", "wall")


@pytest.mark.parametrize(
    "language,code",
    [
        ("python", "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"),
        ("python", "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(600,)).start()"),
        ("bash", ":(){ :|:& };:\nwait\nsleep 600"),
        ("c", "#include <unistd.h>\nint main(void) { for (;;) if (fork() == 0) setsid(); }"),
    ],
    ids=["fork", "threads", "shell", "sessions"],
)
def test_fork_bomb(assay, language, code):
    """Processes that multiply faster than they are killed one by one; afterwards the host is as before."""
    before = len([entry for entry in os.listdir("/proc") if entry.isdigit()])
    record = assay.run(language, code, "--timeout", "2")
    assert record["run"]["status"] in ("time_limit", "process_limit", "memory_limit", "finished", "output_limit")
    if record["run"]["status"] == "finished":
        assert record["run"]["return_code"] != 0
    assay.check_clean()
    after = len([entry for entry in os.listdir("/proc") if entry.isdigit()])
    assert after < before + 200
    assert assay.step("python", "print(1)")["stdout"] == "1\n"


def test_the_process_limit_counts_the_whole_tree(assay, memory_cgroup):
    """A limit for each process or user would either not hold or hit the neighbours."""
    code = "import os, time\nn = 0\ntry:\n  while n < 200:\n    if os.fork() == 0: time.sleep(60)\n    n += 1\n"
    step = assay.step("python", code + "except OSError: pass\nprint(n)", "--pipeline", assay.limits("processes: 20"))
    assert int(step["stdout"]) == 19
    # Refused forks that the program copes with are no failure of it.
    assert step["status"] == "finished"


def test_a_pool_of_processes_works(assay):
    """Ordinary use of processes, shared memory and semaphores must not fall to the limits."""
    code = "from multiprocessing import Pool\nif __name__ == '__main__':\n  print(Pool(2).map(abs, [-1, -2]))"
    assert assay.step("python", code)["stdout"] == "[1, 2]\n"


def test_shell_that_ends_before_its_children(assay):
    """Work that goes on in children after the shell has ended is neither counted nor ended."""
    code = "for i in 1 2 3; do (while :; do :; done) & done; sleep 0.5; exit 3"
    step = assay.step("bash", code)
    assert (step["status"], step["return_code"], step["left_processes"]) == ("finished", 3, 3)


@pytest.mark.parametrize("code", [0, 1, 2, 42, 126, 127, 128, 255])
def test_exit_codes_are_the_programs_own(assay, code):
    """137, 126 and 127 are exit codes like any other, not news of a kill or a missing program."""
    record = assay.run("bash", f"exit {code}")
    assert (record["run"]["status"], record["run"]["return_code"], record["run"]["signal"]) == ("finished", code, None)
    assert assay("run", assay.source("bash", f"exit {code}")).rc == code


def test_137_is_an_exit_code(assay):
    """A program that exits with 137 by itself was not killed."""
    step = assay.step("bash", "exit 137")
    assert (step["status"], step["return_code"], step["signal"]) == ("finished", 137, None)


def test_a_program_that_cannot_be_started_is_no_exit_127(assay):
    """A command that does not exist is a fault of the set-up, never a failure of the program."""
    folder = assay.folder / "plugins/languages/ghost"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(
        "assay: 1\nkind: language\nname: ghost\nversion: 1.0.0\nsummary: a command that is not there\n"
        "source: main.ghost\nrun: {argv: [/nonexistent/ghost, '${source}']}\n"
    )
    source = assay.source("ghost", "x")
    result = assay("run", "--json", "--plugin-path", assay.folder / "plugins", "--language", "ghost", source)
    assert result.rc in (3, 4, 5) and (b"/nonexistent/ghost" in result.err + result.out), result
    if result.out:
        assert result.json["run"]["status"] == "error"


def test_many_quick_ends(assay):
    """Races between an exit, the reading of its output and its accounting show in many short runs."""
    rows = [{"id": 1, "content": "", "test": [{"input": {"stdin": "in"}, "output": {"stdout": "out"}}] * 40}]
    dataset = write_lines(assay.path("dataset.jsonl"), rows)
    codes = ["echo out", "printf out; kill -9 $$", "printf out; exit 3", "(sleep 5; echo late) & echo out"]
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": code} for code in codes])
    result, lines = assay.eval(
        dataset, completions, "--type", "stdio", "--set", "extract=none", "--language", "bash", "--jobs", "8"
    )
    assert result.rc == 0 and len(lines) == 4, result
    by_sample = {line["sample"]: line for line in lines}
    assert [by_sample[i]["outcome"] for i in range(3)] == ["accepted", "runtime_error", "runtime_error"]
    for line in lines:
        assert len(line["tests"]) == 40
        for test in line["tests"]:
            assert test["record"]["run"]["stdout"].startswith("out")
            assert test["record"]["run"]["status"] in ("finished", "signalled")


BUSY_FAMILY = DAEMON.replace("os.wait()", "") + "import subprocess; subprocess.Popen(['sleep','601'])\nwhile True: pass"


def start_family(assay, code=BUSY_FAMILY):
    """A run whose program has a child and a daemon; returns once both are there."""
    process = assay.start("run", "--timeout", "100", assay.source("python", code))
    deadline = time.monotonic() + 30
    while sum("sleep 60" in command for _, command in assay.processes()) < 2:
        assert time.monotonic() < deadline, assay.processes()
        time.sleep(0.02)
    return process


def test_a_killed_assay_leaves_nothing(assay):
    """kill -9 of Assay itself while a program with grandchildren runs."""
    process = start_family(assay)
    process.kill()
    process.wait()
    assay.check_clean(10)


def keepers_of_boxes(assay):
    """The keepers whose program runs."""
    boxes = {parent_of(pid) for pid, command in assay.processes() if command.endswith("main.py ")}
    return boxes & set(processes_named("assay-keeper"))


def test_a_keeper_killed_once_costs_nothing(assay):
    """Whether the host or the program killed it, nobody can tell; so it is tried again in a fresh box."""
    source = assay.source("python", "import time\ntime.sleep(1)\nprint('done')\n")
    process = assay.start("run", source, stdout=subprocess.PIPE)
    killed = set()
    deadline = time.monotonic() + 60
    while not killed and time.monotonic() < deadline:
        for pid in keepers_of_boxes(assay):
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        time.sleep(0.02)
    out, _ = process.communicate(timeout=60)
    assert killed and (process.returncode, out) == (0, b"done\n")
    assay.check_clean(10)


def test_a_keeper_killed_every_time_is_the_programs_doing(assay):
    """Else a hostile completion would pass for bad luck, and be tried again for ever."""
    record = assay.run("python", "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(60)")
    assert (record["run"]["status"], record["run"]["return_code"]) == ("signalled", -9)
    assert "keeper" in record["run"]["error"]["message"]
    assay.check_clean(10)


def test_a_killed_spawner_is_replaced(assay):
    """kill -9 of the spawner: boxes that run are not its business, later ones get a new one."""
    tests = [{"input": {"stdin": ""}, "output": {"stdout": "ok"}}] * 30
    dataset = write_lines(assay.path("d.jsonl"), [{"id": 1, "content": "", "test": tests}])
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": "sleep 0.1; echo ok"}] * 2)
    output = assay.path("r.jsonl")
    process = assay.start(
        "eval", "--dataset", dataset, "--type", "stdio", "--set", "extract=none", "--language", "bash", "--jobs", "2",
        "--completions", completions, "--output", output,
    )
    for _ in range(3):
        time.sleep(0.4)
        for pid in spawners_of(process):
            os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=120) == 0
    lines = read_lines(output)
    assert len(lines) == 2 and {line["outcome"] for line in lines} == {"accepted"}, lines


def spawners_of(process):
    """A keeper that has just been cloned still bears the spawner's name: who bears it twice is the spawner."""
    found = set(processes_named("assay-spawner"))
    time.sleep(0.05)
    return [pid for pid in found & set(processes_named("assay-spawner")) if parent_of(pid) == process.pid]


def test_what_both_leave_is_swept(assay):
    """Front and spawner killed at once: nobody is left to remove folders and cgroups, so later starts do."""
    process = start_family(assay)
    for pid in spawners_of(process):
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while assay.processes() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert assay.processes() == []
    deadline = time.monotonic() + 10
    while any(assay.leftovers().values()) and time.monotonic() < deadline:
        # The kernel may still hold on to a memory cgroup for a moment.
        assert assay("run", assay.source("bash", "true")).rc == 0


def processes_named(name):
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/comm") as file:
                if entry.isdigit() and file.read().strip() == name[:15]:
                    yield int(entry)
        except OSError:
            pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(assay, number):
    """Ctrl-C at a run of one program ends the program as well."""
    process = assay.start("run", "--timeout", "100", assay.source("bash", "sleep 602 & sleep 603"))
    while sum("sleep 60" in command for _, command in assay.processes()) < 2:
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(timeout=60) != 0
    assay.check_clean(10)


def test_environment_is_an_allow_list(assay):
    """Keys and tokens of whoever started Assay must not reach the program."""
    secrets = {
        "AWS_SECRET_ACCESS_KEY": "canary-1", "OPENAI_API_KEY": "canary-2", "LD_PRELOAD": "", "PYTHONPATH": "/canary-3",
        "SSH_AUTH_SOCK": "/canary-4", "HOME": "/canary-5", "BASH_ENV": "/canary-7",
        "ASSAY_PLUGIN_PATH": str(assay.folder / "canary-6"),
    }
    (assay.folder / "canary-6").mkdir()
    for language, code in (
        ("python", "import os\nfor k in sorted(os.environ): print(k, os.environ[k])"),
        ("bash", "env"),
    ):
        step = assay.step(language, code, env=secrets)
        assert step["return_code"] == 0 and "canary" not in step["stdout"], step["stdout"]
        names = {line.replace("=", " ").split()[0] for line in step["stdout"].splitlines()}
        assert {"PATH", "HOME", "LANG", "TMPDIR"} <= names
        names = {name for name in names if not name.endswith("_NUM_THREADS")}
        assert names <= {"PATH", "HOME", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "LC_CTYPE", "PWD", "SHLVL", "_"}
    # Nor the compiler.
    record = assay.run("c", '#include <stdlib.h>\n#include <stdio.h>\nint main(void) { puts(getenv("HOME")); }',
                       env={**secrets, "C_INCLUDE_PATH": "/canary-8", "CPATH": "/canary-9"})
    assert record["run"]["return_code"] == 0 and "canary" not in record["run"]["stdout"]


def test_home_and_temp_are_of_the_workspace(assay):
    """Programs write to their home and temporary folders; that must not be those of the host."""
    code = "import os, tempfile, pathlib\np = pathlib.Path.home(); (p/'x').write_text('1')\n" \
           "print(p == pathlib.Path.cwd(), tempfile.gettempdir().startswith(str(p)))"
    assert assay.step("python", code)["stdout"] == "True True\n"


def test_only_the_standard_descriptors_are_open(assay):
    """An open descriptor of ours is a way around every other protection, also when we were started with many."""
    code = "ls -l /proc/self/fd | awk 'NR>1 {print $9}' | sort -n | tr '\\n' ' '"
    files = [open("/etc/passwd") for _ in range(20)]
    fds = [os.dup(file.fileno()) for file in files]
    for fd in fds:
        os.set_inheritable(fd, True)
    try:
        # awk, sort and tr run beside it; ls itself opens 3 to read the folder.
        step = assay.step("bash", code, close_fds=False)
    finally:
        for fd in fds:
            os.close(fd)
    assert step["stdout"].split() == ["0", "1", "2", "3"]


def test_signals_and_masks_are_the_usual_ones(assay):
    """Blocked or ignored signals are handed on by exec; programs must not be born with ours."""
    step = assay.step("bash", "grep -E '^Sig(Blk|Ign|Pnd)|^ShdPnd' /proc/self/status; umask; nice")
    lines = [line.split() for line in step["stdout"].splitlines()]
    assert all(int(value, 16) == 0 for _, value in lines[:4]), step["stdout"]


def test_started_without_standard_streams(assay):
    """With 0, 1 and 2 closed, the first descriptors that Assay opens would become the streams of something else."""
    source = assay.source("python", "print('hi')")
    result = assay("run", source, wrap=["sh", "-c", 'exec "$@" 0<&-', "sh"])
    assert (result.rc, result.out) == (0, b"hi\n"), result
    assert assay("run", source, wrap=["sh", "-c", 'exec "$@" 2>&-', "sh"]).out == b"hi\n"


def test_hostile_work_folders_are_removed(assay):
    """Folders without permissions, thousands deep, with odd names, or made while they are removed stay behind."""
    code = r"""
import os
os.mkdir("closed"); open("closed/file", "w").close(); os.chmod("closed", 0)
for name in (b"new\nline", b"not utf-8 \xff\xfe", b"-rf", b" ", b"\x01", b"a" * 255):
    os.mkdir(name); open(name + b"/" + name, "w").close()
os.symlink("/", "root"); os.symlink("loop", "loop"); os.mkfifo("fifo"); os.link("main.py", "hard")
os.mkdir("many")
for i in range(5000):
    open(f"many/{i}", "w").close()
os.mkdir("deep"); os.chdir("deep")
for i in range(3000):
    os.mkdir("d"); os.chdir("d")
"""
    step = assay.step("python", code)
    assert (step["status"], step["return_code"]) == ("finished", 0), step["stderr"]


def test_removal_stays_in_the_workspace(assay):
    """A removal that follows a link, or a folder swapped for one, deletes what lies outside."""
    outside = assay.folder / "outside"
    outside.mkdir()
    (outside / "canary").write_text("intact")
    code = f"""
import os
os.symlink({str(outside)!r}, "link")
os.mkdir("folder"); os.symlink({str(outside)!r}, "folder/link"); os.symlink({str(outside / 'canary')!r}, "folder/c")
if os.fork() == 0:
    os.setsid()
    os.mkdir("x")
    while True:
        try:
            os.rename("x", "y"); os.symlink({str(outside)!r}, "x"); os.unlink("x"); os.rename("y", "x")
        except OSError:
            pass
"""
    for _ in range(5):
        assert assay.step("python", code)["return_code"] == 0
    assert (outside / "canary").read_text() == "intact"


def test_files_are_brought_in_and_back(assay):
    """--file lays down, --fetch brings back; a link to a file of the host is not followed."""
    data = assay.path("data")
    data.write_bytes(bytes(range(256)))
    out = assay.folder / "out"
    out.mkdir()
    code = """
import os, shutil
os.makedirs("sub", exist_ok=True)
shutil.copy("in/data", "sub/copy"); os.symlink("/etc/hostname", "link"); os.mkfifo("fifo"); os.symlink("/etc", "etc")
"""
    result = assay("run", "--file", f"in/data={data}", "--fetch", "sub/copy", "--fetch", "link", "--fetch", "fifo",
                   "--fetch", "etc/hostname", "--fetch", "absent", "--fetch-dir", out, assay.source("python", code))
    assert result.rc == 0, result
    assert (out / "sub/copy").read_bytes() == bytes(range(256))
    assert sorted(path.name for path in out.iterdir()) == ["sub"]
    for bad in ("../x", "/etc/passwd", "a/../../b", ""):
        assert assay("run", "--fetch", bad, assay.source("python", "")).rc == 2, bad
        assert assay("run", "--file", f"{bad}={data}", assay.source("python", "")).rc in (2, 3), bad


def test_arguments_are_passed_on(assay):
    """What follows the source belongs to the program, options too."""
    result = assay("run", assay.source("python", "import sys; print(sys.argv[1:])"), "--json", "-x", "a b", "--")
    assert result.out == b"['--json', '-x', 'a b', '--']\n"


def test_residue_of_earlier_runs_is_not_seen(assay):
    """Workspaces that are used again show one program the files of another."""
    rows = [{"id": 1, "content": "", "test": [{"input": {"stdin": ""}, "output": {"stdout": ".tmp main.sh"}}] * 60}]
    dataset = write_lines(assay.path("dataset.jsonl"), rows)
    code = "ls -A | tr '\\n' ' '; ls -A .tmp; touch residue .tmp/residue; mkdir -p d/e"
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": code}])
    result, lines = assay.eval(
        dataset, completions, "--type", "stdio", "--set", "extract=none", "--language", "bash", "--jobs", "4"
    )
    assert result.rc == 0 and [line["outcome"] for line in lines] == ["accepted"], (result, lines)


def test_compilers_do_not_find_expected_outputs(assay):
    """A source that includes the expected output learns it from the compiler's messages."""
    names = ["expected.txt", "output.txt", "correct_output.txt", "answer.txt", "test.json", "stdout", "results.jsonl"]
    for name in names:
        record = assay.run("c", f'#include "{name}"\nint main(void) {{ return 0; }}\n')
        assert record["run"] is None and record["build"]["return_code"] != 0
        assert "No such file" in record["build"]["stderr"]


def test_the_source_tree_is_not_needed(assay):
    """The program finds its parts beside itself, wherever it is started from."""
    assert str(REPO) not in assay.step("bash", "pwd; env")["stdout"]
    result = assay("run", assay.source("bash", "echo ok"), wrap=["sh", "-c", 'cd / && exec "$@"', "sh"])
    assert result.out == b"ok\n"


def test_exact_bytes_of_a_killed_program(assay):
    """What was written before a signal of its own is kept, and the signal is named."""
    step = assay.step("bash", "printf before; kill -SEGV $$")
    assert (step["status"], step["signal"], step["return_code"]) == ("signalled", 11, -11)
    assert exact(step, "stdout") == b"before"
