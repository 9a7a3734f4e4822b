# SPDX-License-Identifier: Apache-2.0
"""Whole evaluations: right verdicts, right pass@k, and nothing lost, repeated or torn, whatever interrupts them."""
import gzip
import json
import random
import shutil
import signal
import subprocess
import time
from fractions import Fraction
from math import comb

import pytest
from conftest import IS_SANITIZED, PREFIX, REPO, read_lines, shared, write_lines

ROW = {
    "task_id": "own/0",
    "prompt": 'def double(x):\n    """Twice x."""\n',
    "entry_point": "double",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n",
}


def human_eval():
    with gzip.open(shared("data/humaneval/HumanEval.jsonl.gz"), "rt") as file:
        return [json.loads(line) for line in file]


def keys(lines):
    return sorted((line["task_id"], line["sample"], line["outcome"], line["accepted"]) for line in lines)


def own_dataset(assay, count=1):
    return write_lines(assay.path("dataset.jsonl"), [{**ROW, "task_id": f"own/{i}"} for i in range(count)])


def own_completions(assay, completions):
    return write_lines(assay.path("c.jsonl"), [{"task_id": "own/0", "completion": text} for text in completions])


# -- verdicts ----------------------------------------------------------------------------------------------------------


def test_canonical_solutions_are_accepted(assay):
    """A grader that refuses right programs."""
    rows = human_eval()
    completions = [{"task_id": row["task_id"], "completion": row["canonical_solution"]} for row in rows]
    result, lines = assay.eval(shared("data/humaneval/HumanEval.jsonl.gz"), write_lines(assay.path("c"), completions))
    assert result.rc == 0, result
    assert [line for line in lines if not line["accepted"]] == []
    assert sorted(line["task_id"] for line in lines) == sorted(row["task_id"] for row in rows)
    assert all(line["sample"] == 0 and line["outcome"] == "accepted" and len(line["tests"]) == 1 for line in lines)


def test_empty_bodies_are_not_accepted(assay):
    """A grader that accepts whatever does not crash."""
    rows = human_eval()
    completions = [{"task_id": row["task_id"], "completion": "    pass\n"} for row in rows]
    result, lines = assay.eval(shared("data/humaneval/HumanEval.jsonl.gz"), write_lines(assay.path("c"), completions))
    assert result.rc == 0 and len(lines) == 164, result
    assert [line for line in lines if line["accepted"]] == []
    assert {line["outcome"] for line in lines} <= {"wrong_answer", "runtime_error"}


def exact_pass_at_k(counts, k):
    """The unbiased estimator over (samples, passed), in fractions."""
    return sum(1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in counts) / len(counts)


def test_pass_at_k_of_a_known_mix(assay):
    """Ten completions of each task, of which a known number is right: pass@k to the last digit."""
    rows = human_eval()
    right = [(index * 7 + 3) % 11 for index in range(len(rows))]
    completions = []
    for sample in range(10):  # samples of a task lie apart in the file
        for index, row in enumerate(rows):
            good = (sample + index) % 10 < right[index]
            body = row["canonical_solution"] if good else "    raise ValueError('of its own')\n"
            completions.append({"task_id": row["task_id"], "completion": body})
    output = assay.path("results.jsonl")
    result, lines = assay.eval(
        shared("data/humaneval/HumanEval.jsonl.gz"), write_lines(assay.path("c"), completions), output=output,
        timeout=550,
    )
    assert result.rc == 0 and len(lines) == 1640, result
    for line in lines:
        index = int(line["task_id"].split("/")[1])
        good = (line["sample"] + index) % 10 < right[index]
        assert line["accepted"] == good and line["outcome"] == ("accepted" if good else "runtime_error"), line
    metrics = assay("metrics", "--json", "--k", "1,5,10", output).json
    counts = [(10, c) for c in right]
    assert metrics["tasks"] == 164 and metrics["results"] == 1640
    assert metrics["outcomes"] == {"accepted": sum(right), "runtime_error": 1640 - sum(right)}
    for k in (1, 5, 10):
        assert metrics["pass_at_k"][str(k)] == pytest.approx(float(exact_pass_at_k(counts, k)), abs=1e-12)
    assert float(exact_pass_at_k(counts, 1)) == pytest.approx(sum(right) / 1640)
    assert float(exact_pass_at_k(counts, 10)) == pytest.approx(sum(c > 0 for c in right) / 164)


EARLY_EXITS = [
    "    import os; os._exit(0)\n",
    "    import sys; sys.exit(0)\n",
    "    exit()\n",
    "    raise SystemExit\n",
    "    raise SystemExit(0)\n",
    "    import posix; posix._exit(0)\n",
    "    import os; os.execv('/bin/true', ['true'])\n",
    "    import os; os.kill(os.getpid(), 15)\n",
    "    import os, signal; signal.signal(15, lambda *a: os._exit(0)); os.kill(os.getpid(), 15)\n",
    "    import os\n    if os.fork(): os._exit(0)\n    return 5\n",
    "    import ctypes; ctypes.CDLL(None)._exit(0)\n",
    "    import os; os.write(3, b'1'); os._exit(0)\n",
    "    import os; os.write(3, b'accepted'); print('1'); print('accepted'); os._exit(0)\n",
    "    import os; os.close(3); os._exit(0)\n",
    "    import threading; threading.Thread(target=__import__('os')._exit, args=(0,)).start(); import time; time.sleep(9)\n",
    "    pass\nimport sys\nsys.exit(0)\n",
    "    pass\nimport os\nos._exit(0)\n",
    "    pass\nimport atexit, os\natexit.register(os._exit, 0)\n",
    "    pass\nimport sys, os\nsys.excepthook = lambda *a: os._exit(0)\n",
    "    pass\nimport builtins\nbuiltins.AssertionError = None\n",
]


def test_early_exits_are_not_accepted(assay):
    """A verdict that is the exit code of the process in which the candidate runs."""
    result, lines = assay.eval(own_dataset(assay), own_completions(assay, [*EARLY_EXITS, "    return 2 * x\n"]))
    assert result.rc == 0 and len(lines) == len(EARLY_EXITS) + 1, result
    accepted = [line["sample"] for line in lines if line["accepted"]]
    assert accepted == [len(EARLY_EXITS)], [EARLY_EXITS[i] for i in accepted if i < len(EARLY_EXITS)]
    assert "infrastructure" not in {line["outcome"] for line in lines}


def test_files_beside_the_program_change_nothing(assay):
    """Modules laid down in the working folder must not stand in for those of the grader or of a later run."""
    hostile = (
        "    import os\n    for n in ('os', 'json', 'unittest', 'sitecustomize', 'usercustomize', 'conftest'):\n"
        "        open(n + '.py', 'w').write('import posix; posix._exit(0)')\n    return 5\n"
    )
    result, lines = assay.eval(own_dataset(assay), own_completions(assay, [hostile, "    return 5\n"] * 5), "--jobs", "1")
    assert result.rc == 0 and {line["outcome"] for line in lines} == {"wrong_answer"}, lines


def test_outcomes_tell_apart_how_it_failed(assay):
    """Each way to fail has its own word, and no failure of a program is one of ours."""
    cases = {
        "accepted": "    return 2 * x\n",
        "wrong_answer": "    return 5\n",
        "runtime_error": "    return 1 / 0\n",
        "time_limit": "    while True: pass\n",
        "memory_limit": "    return len(b'1' * (3 << 30))\n",
        "output_limit": "    while True: print('x' * 100000)\n",
        "no_code": "   \n",
    }
    cases_more = [("runtime_error", "    import os; os.abort()\n"), ("runtime_error", "    return (\n"),
                  ("wrong_answer", "    return None\n"), ("runtime_error", "    return undefined\n"),
                  ("runtime_error", "    def f(): f()\n    raise RecursionError\n")]
    pairs = [*cases.items(), *cases_more]
    own = assay.limits("cpu: 1s, wall: 5s, memory: 256MiB, output: 64KiB", "extract, build, run, judge")
    result, lines = assay.eval(
        own_dataset(assay), own_completions(assay, [text for _, text in pairs]), "--pipeline", own
    )
    assert result.rc == 0, result
    outcomes = [line["outcome"] for line in sorted(lines, key=lambda line: line["sample"])]
    wanted = [outcome for outcome, _ in pairs]
    if "memory_limit" not in outcomes:  # on a host without a memory cgroup the allocation is refused
        wanted[4] = "runtime_error"
    assert outcomes == wanted


def test_chat_answers_are_understood(assay):
    """A whole function in a fence, prose around it, or a bare body."""
    texts = [
        "Here it is:\n```python\ndef double(x):\n    return 2 * x\n```\nDone.",
        "```\ndef double(x):\n    return x + x\n```",
        "    return 2 * x",
        "```python\n    return 2 * x\n```",
    ]
    result, lines = assay.eval(own_dataset(assay), own_completions(assay, texts))
    assert result.rc == 0 and all(line["accepted"] for line in lines), lines
    assert all("return" in line["extracted_code"] and line["extracted_type"] for line in lines)


# -- input that is wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        '{"task_id": "own/0", "completion": "x"',
        "not json",
        "[1, 2]",
        '{"task_id": "own/0"}',
        '{"completion": "x"}',
        '{"task_id": "own/0", "completion": 5}',
        '{"task_id": "own/0", "completion": "x", "completion": "y"}',
        '{"task_id": "own/404", "completion": "x"}',
        '{"task_id": {"a": 1}, "completion": "x"}',
        '{"task_id": "own/0", "completion": NaN}',
    ],
)
def test_a_bad_completion_names_its_line(assay, bad):
    """Bad lines that are skipped, or counted as wrong answers, change the score in silence."""
    good = json.dumps({"task_id": "own/0", "completion": "    return 2 * x\n"})
    completions = assay.path("c.jsonl")
    completions.write_text(f"{good}\n\n{bad}\n{good}\n")
    result, lines = assay.eval(own_dataset(assay), completions)
    assert result.rc == 3, result
    assert f"{completions.name}:3" in result.text[1], result
    # What was read before is judged and reported.
    assert [line["outcome"] for line in lines] == ["accepted"]


def test_odd_text_is_judged(assay):
    """A model may well write half a surrogate pair or a NUL: that is its fault, and stops nothing."""
    odd = ["    return '\ud800'\n", "    \0return 5\n", "    return '\u2028'\n", "    return 2 * x # \U0010ffff\r\n"]
    result, lines = assay.eval(own_dataset(assay), own_completions(assay, odd))
    assert result.rc == 0 and len(lines) == 4, result
    outcomes = {line["sample"]: line["outcome"] for line in lines}
    assert outcomes[3] == "accepted"
    assert {outcomes[i] for i in range(3)} <= {"wrong_answer", "runtime_error"}, outcomes


@pytest.mark.parametrize("change", [{"test": ""}, {"test": " \n"}, {"entry_point": ""}, {"test": None}])
def test_no_tests_are_an_error(assay, change):
    """Zero tests that count as full marks."""
    dataset = write_lines(assay.path("d.jsonl"), [{**ROW, **change}])
    result, lines = assay.eval(dataset, own_completions(assay, ["    return 2 * x\n"]), "--type", "humaneval")
    assert result.rc == 3 or {line["outcome"] for line in lines} == {"infrastructure"}, (result, lines)
    assert not any(line["accepted"] for line in lines)


@pytest.mark.parametrize("tests", ["[]", [], "", "{", None, {"a": 1}, [{"input": {}}], [{"output": {"stdout": "1"}}]])
def test_undecodable_tests_are_an_error(assay, tests):
    """The same where the tests are data."""
    dataset = write_lines(assay.path("d.jsonl"), [{"id": 1, "content": "", "test": tests}])
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": "print(1)"}])
    result, lines = assay.eval(dataset, completions, "--type", "stdio", "--language", "python")
    assert result.rc == 3 or {line["outcome"] for line in lines} == {"infrastructure"}, (result, lines)
    assert not any(line["accepted"] for line in lines)


def test_wrong_files_are_told(assay):
    """A file that is missing, empty, or holds the same id twice."""
    completions = own_completions(assay, ["    return 2 * x\n"])
    empty = assay.path("empty.jsonl")
    empty.write_text("")
    twice = write_lines(assay.path("twice.jsonl"), [ROW, {**ROW, "prompt": "another"}])
    for dataset, word in ((assay.path("absent"), "absent"), (empty, "empty.jsonl"), (twice, "twice.jsonl:2")):
        result, lines = assay.eval(dataset, completions)
        assert result.rc == 3 and word in result.text[1] and lines == [], result
    result, _ = assay.eval(own_dataset(assay), assay.path("absent"))
    assert result.rc == 3 and "absent" in result.text[1], result
    broken = assay.path("broken.jsonl.gz")
    broken.write_bytes(gzip.compress(completions.read_bytes() * 200)[:-20])
    result, _ = assay.eval(own_dataset(assay), broken)
    assert result.rc == 3 and "broken.jsonl.gz" in result.text[1], result


@pytest.mark.parametrize(
    "args",
    [
        [], ["eval"], ["evil"], ["eval", "--dataset", "x"], ["run"], ["run", "--no-such-option", "x"],
        ["eval", "--dataset", "x", "--completions", "x", "--output", "x", "--jobs", "0"],
        ["eval", "--dataset", "x", "--completions", "x", "--output", "x", "--shard", "3/2"],
        ["eval", "--dataset", "x", "--completions", "x", "--output", "x", "--shard", "0/2"],
        ["metrics"], ["metrics", "--k", "0", "x"], ["plugins", "fruit"], ["check"],
    ],
)
def test_wrong_use_is_told(assay, args):
    """Usage errors have an exit code of their own and say what was meant."""
    result = assay(*args)
    assert result.rc == 2 and result.err and not result.out, result


# -- output ------------------------------------------------------------------------------------------------------------


def test_existing_results_are_not_overwritten(assay):
    """A second run into the same file, by mistake, must lose nothing and mix nothing."""
    dataset, completions, output = own_dataset(assay), own_completions(assay, ["    return 2 * x\n"]), assay.path("r")
    assert assay.eval(dataset, completions, output=output)[0].rc == 0
    before = output.read_bytes()
    result, _ = assay.eval(dataset, completions, output=output)
    assert result.rc == 3 and b"--resume" in result.err and output.read_bytes() == before, result
    result, _ = assay.eval(dataset, completions, "--resume", output=output)
    assert result.rc == 0 and output.read_bytes() == before


def test_resume_after_a_cut_line(assay):
    """A power cut in the middle of a line: the line is made again, the rest stays."""
    dataset, completions = own_dataset(assay), own_completions(assay, ["    return 2 * x\n", "    return 5\n"] * 3)
    output = assay.path("r")
    _, whole = assay.eval(dataset, completions, output=output)
    complete = output.read_bytes()
    for cut in (1, 10, 200, len(complete.splitlines(True)[-1]) - 1):
        output.write_bytes(complete[:-cut])
        result, lines = assay.eval(dataset, completions, "--resume", output=output)
        assert result.rc == 0 and keys(lines) == keys(whole), (cut, result)


def test_damage_within_the_results_is_told(assay):
    """Damage that is not at the end was not made by an interruption, and must not be passed over."""
    dataset, completions = own_dataset(assay), own_completions(assay, ["    return 2 * x\n"] * 3)
    output = assay.path("r")
    assay.eval(dataset, completions, output=output)
    lines = output.read_text().splitlines(True)
    output.write_text(lines[0] + '{"torn\n' + lines[2])
    result = assay("eval", "--dataset", dataset, "--completions", completions, "--output", output, "--resume")
    assert result.rc == 3 and f"{output.name}:2" in result.text[1], result
    assert assay("metrics", output).rc == 3


def test_full_disk_is_told(assay):
    """A result that cannot be written must not count as reported."""
    result = assay(
        "eval", "--dataset", own_dataset(assay), "--completions", own_completions(assay, ["    return 2 * x\n"]),
        "--output", "/dev/full",
    )
    assert result.rc not in (0, 1) and b"/dev/full" in result.err, result


def test_two_writers_do_not_mix(assay):
    """Two runs that write to one file at once."""
    dataset = own_dataset(assay)
    completions = own_completions(assay, ["    import time; time.sleep(3); return 2 * x\n"])
    output = assay.path("r")
    args = ("eval", "--dataset", dataset, "--completions", completions, "--output", output, "--quiet")
    first = assay.start(*args)
    while not assay.processes():
        time.sleep(0.02)
    deadline = time.monotonic() + 30
    while sum("main.py" in command for _, command in assay.processes()) < 1:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    second = assay(*args, "--resume")
    assert second.rc == 3 and b"another" in second.err, second
    assert first.wait(timeout=60) == 0 and len(read_lines(output)) == 1


# -- interruption ------------------------------------------------------------------------------------------------------


def mixed_completions(count):
    for index in range(count):
        body = ["    return 2 * x\n", "    return 5\n", "    return 1 / 0\n", "    import os; os._exit(0)\n"][index % 4]
        yield {"task_id": f"own/{index % 50}", "completion": body}


def read_whole_lines(path):
    """All lines must be whole, but for the last."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines[:-1]]


def test_resume_after_kills_at_random_moments(assay):
    """SIGKILL at any moment, ten times over: the end is that of an undisturbed run."""
    dataset = own_dataset(assay, 50)
    completions = write_lines(assay.path("c.jsonl"), mixed_completions(600))
    result, whole = assay.eval(dataset, completions)
    assert result.rc == 0 and len(whole) == 600, result
    output = assay.path("killed.jsonl")
    chance = random.Random(20240229)
    reported = []
    for _ in range(10):
        process = assay.start(
            "eval", "--dataset", dataset, "--completions", completions, "--output", output, "--quiet", "--resume"
        )
        time.sleep(chance.uniform(0.02, 1.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = read_whole_lines(output)
        assert now[: len(reported)] == reported  # what was reported stays
        reported = now
        assay.check_clean(10)
    result, lines = assay.eval(dataset, completions, "--resume", output=output)
    assert result.rc == 0 and keys(lines) == keys(whole), result
    assert lines[: len(reported)] == reported


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_finishes_what_is_in_flight(assay, number):
    """Ctrl-C: what is done is written, how to go on is said, and going on gives the whole."""
    dataset = own_dataset(assay, 50)
    completions = write_lines(assay.path("c.jsonl"), mixed_completions(300))
    output = assay.path("r.jsonl")
    args = ("eval", "--dataset", dataset, "--completions", completions, "--output", output)
    process = assay.start(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not output.exists() or len(output.read_bytes()) < 1000:
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number and b"--resume" in err, err
    done = read_lines(output)
    assert 0 < len(done) < 300
    assay.check_clean()
    result, lines = assay.eval(dataset, completions, "--resume", output=output)
    assert result.rc == 0 and len(lines) == 300 and len({(l["task_id"], l["sample"]) for l in lines}) == 300


def test_shards_make_the_whole(assay):
    """1/3 + 2/3 + 3/3 is everything, once; pass@k over the three files is that of the whole."""
    dataset = own_dataset(assay, 50)
    completions = write_lines(assay.path("c.jsonl"), mixed_completions(200))
    outputs = [assay.path(f"shard{i}.jsonl") for i in (1, 2, 3)]
    parts = []
    for i, output in enumerate(outputs, 1):
        result, lines = assay.eval(dataset, completions, "--shard", f"{i}/3", output=output)
        assert result.rc == 0 and len(lines) in (66, 67), result
        parts += lines
    whole_output = assay.path("whole.jsonl")
    _, whole = assay.eval(dataset, completions, output=whole_output)
    assert keys(parts) == keys(whole)
    assert assay("metrics", "--json", *outputs).json == assay("metrics", "--json", whole_output).json


@pytest.mark.parametrize("kind", ["gz", "gz in two members", "zst", "crlf", "no last newline", "stdin"])
def test_forms_of_input_give_the_same(assay, kind):
    """Compressed, concatenated, or with other line ends."""
    dataset = own_dataset(assay, 50)
    completions = write_lines(assay.path("c.jsonl"), mixed_completions(60))
    data = completions.read_bytes()
    _, plain = assay.eval(dataset, completions)
    other, input = assay.path(f"other.jsonl{'.zst' if kind == 'zst' else '.gz' if 'gz' in kind else ''}"), b""
    if kind == "gz":
        other.write_bytes(gzip.compress(data))
    elif kind == "gz in two members":
        other.write_bytes(gzip.compress(data[:1000]) + gzip.compress(data[1000:]))
    elif kind == "zst":
        if not shutil.which("zstd"):
            pytest.skip("no zstd program to compress with")
        subprocess.run(["zstd", "-q", completions, "-o", other], check=True)
    elif kind == "crlf":
        other.write_bytes(data.replace(b"\n", b"\r\n"))
    elif kind == "no last newline":
        other.write_bytes(data[:-1])
    else:
        other, input = "-", data
    result, lines = assay.eval(dataset, other, input=input)
    assert result.rc == 0 and keys(lines) == keys(plain), result


def test_bundled_samples(assay):
    """What `./dev run` shows is what is expected."""
    expected = REPO / "tests/data/sample_expected.jsonl"
    result, lines = assay.eval("sample", PREFIX / "share/assay/conf/datasets/sample/completions.jsonl")
    assert result.rc == 0, result
    seen = {(line.get("task_id", line.get("id")), line["sample"]): line for line in lines}
    wanted = read_lines(expected)
    assert len(wanted) == len(lines) > 0
    for row in wanted:
        line = seen[row.get("task_id", row.get("id")), row["sample"]]
        assert {key: line[key] for key in row} == row


def test_progress_and_table(assay):
    """Progress goes to stderr, the table to stdout, and --quiet silences both."""
    dataset, completions = own_dataset(assay), own_completions(assay, ["    return 2 * x\n"] * 3)
    result = assay("eval", "--dataset", dataset, "--completions", completions, "--output", assay.path("r"))
    assert result.rc == 0 and "pass@1" in result.text[0], result
    result = assay("eval", "--quiet", "--dataset", dataset, "--completions", completions, "--output", assay.path("q"))
    assert (result.rc, result.out, result.err) == (0, b"", b"")


def test_prompts(assay):
    """Prompts come out as JSON lines, under the id of the row."""
    result = assay("prompts", "--dataset", own_dataset(assay, 3))
    assert result.rc == 0, result
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [row["task_id"] for row in rows] == ["own/0", "own/1", "own/2"]
    assert all(row["prompt"] == ROW["prompt"] for row in rows)


@pytest.mark.skipif(IS_SANITIZED, reason="a sanitized program needs more memory")
def test_memory_does_not_grow_with_the_file(assay):
    """Completions are a stream: what stays in memory does not depend on their number."""
    dataset = own_dataset(assay, 50)
    # Nothing is run, for there is no code: what is measured is reading and writing.
    filler = " " * 20000
    completions = write_lines(
        assay.path("c.jsonl"), ({"task_id": f"own/{i % 50}", "completion": filler} for i in range(5000))
    )
    process = assay.start(
        "eval", "--dataset", dataset, "--completions", completions, "--output", assay.path("r"), "--quiet",
        stdout=subprocess.DEVNULL,
    )
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as file:
                peak = max([peak] + [int(line.split()[1]) for line in file if line.startswith("VmHWM")])
        except OSError:
            pass
        time.sleep(0.01)
    assert process.returncode == 0 and completions.stat().st_size > 100_000_000
    assert 0 < peak < 60_000, f"{peak} kB"
