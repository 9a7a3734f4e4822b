# SPDX-License-Identifier: Apache-2.0
"""What a program writes and reads comes through whole, in any amount, on any stream, whatever the bytes are."""
import json

import pytest
from conftest import MIB, exact, write_lines


@pytest.mark.parametrize(
    "size", [0, 1, 65535, 65536, 65537, 131072, 131073, 196608, 196609, MIB, 8 * MIB, 8 * MIB + 1, 10 * MIB]
)
def test_stdout_of_any_size_is_whole(assay, size):
    """A reader that waits for the exit before it drains loses, or hangs on, what passes a pipe's buffer."""
    step = assay.step("python", f"import sys; sys.stdout.write('x'*{size})")
    assert (step["status"], step["return_code"], step["stdout_bytes"]) == ("finished", 0, size)
    assert exact(step, "stdout") == b"x" * min(size, 8 * MIB)


@pytest.mark.parametrize("size", [65536, 65537, 140000, 3 * MIB])
def test_stderr_of_any_size_is_whole(assay, size):
    """The same on the other stream."""
    step = assay.step("python", f"import sys; sys.stderr.write('e'*{size})")
    assert (step["status"], step["return_code"]) == ("finished", 0)
    assert exact(step, "stderr") == b"e" * size and step["stdout_bytes"] == 0


def test_streams_filled_by_turns_do_not_block(assay):
    """Reading one stream to its end while the other fills is a deadlock."""
    code = "import os\nfor i in range(40):\n    os.write(1, b'o'*65536); os.write(2, b'e'*65536)\n"
    step = assay.step("python", code + "os.write(2, b'E'*300000); os.write(1, b'O'*300000)")
    assert step["status"] == "finished"
    assert exact(step, "stdout") == b"o" * 40 * 65536 + b"O" * 300000
    assert exact(step, "stderr") == b"e" * 40 * 65536 + b"E" * 300000


def test_cut_outputs_that_differ_stay_different(assay):
    """A cut without a count makes two outputs look the same that differ behind it."""
    own = assay.limits("output: 1MiB")
    totals = []
    for size in (1_200_000, 2_200_000):
        step = assay.step("python", f"import sys; sys.stdout.write('x'*{size})", "--pipeline", own)
        assert step["stdout_truncated"] and len(exact(step, "stdout")) == MIB
        totals.append(step["stdout_bytes"])
    assert totals == [1_200_000, 2_200_000]


def test_output_before_a_time_limit_is_kept(assay):
    """Output returned for other ends but lost on a time limit. 'B' is still in the program's own buffer."""
    step = assay.step("python", "import time; print('A',flush=True); print('B'); time.sleep(60)", "--timeout", "1")
    assert (step["status"], step["stdout"]) == ("time_limit", "A\n")


def test_characters_across_chunk_edges(assay):
    """Chunks that are decoded one by one break the characters that lie across their edges."""
    text = "a" + "é" * 200000
    step = assay.step("python", f"import sys; sys.stdout.write('a'+'é'*200000)")
    assert step["stdout"] == text and not step.get("stdout_replaced")
    own = assay.limits("output: 100000B")
    step = assay.step("python", f"import sys; sys.stdout.write('a'+'é'*200000)", "--pipeline", own)
    assert step["stdout"] == "a" + "é" * 49999 and step["stdout_truncated"]


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)), b"\0" * 1000, b"\x1b[31m\x07", "\u2028\u2029\U0010ffff".encode(), b"\xed\xa0\x80", b"\xc0\xaf"],
    ids=["all", "nul", "escape", "separators", "surrogate", "overlong"],
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_any_bytes(assay, data, stream):
    """Bytes that are no text: the JSON stays valid, the exact bytes are to be had, and a replacement is said."""
    step = assay.step("python", f"import sys; sys.{stream}.buffer.write({data!r})")
    assert exact(step, stream) == data
    try:
        assert step[stream] == data.decode() and not step.get(f"{stream}_replaced")
    except UnicodeDecodeError:
        assert step[f"{stream}_replaced"]
    json.dumps(step).encode()


def test_bytes_pass_through_without_json(assay):
    """`assay run` without --json hands on the program's own bytes and exit code, each on its stream."""
    source = assay.source("python", "import os; os.write(1, bytes(range(256))); os.write(2, b'err'); os._exit(7)")
    result = assay("run", source)
    assert (result.rc, result.out) == (7, bytes(range(256)))
    assert result.err == b"err"


def test_flood_ends_promptly_and_costs_little(assay):
    """A flood that keeps the reader from looking at its clock, or grows the host by the size of the output."""
    for language, code in (
        ("python", "while True: print('y'*1000)"),
        ("python", "import os\nwhile True: os.write(2, b'y'*65536)"),
        ("bash", "yes | head -c 100G"),
        ("bash", "cat /dev/zero"),
    ):
        step = assay.step(language, code, "--timeout", "20")
        assert step["status"] == "output_limit", step["status"]
        assert step["limit_hit"] == "output" and step["wall_ms"] < 20000
        assert len(exact(step, "stdout")) + len(exact(step, "stderr")) == 8 * MIB


def test_many_that_pass_the_limit_and_exit_at_once(assay):
    """Ending a program that has already gone: the kill races with the exit."""
    own = assay.limits("output: 4KiB, flood: 8KiB", "extract, build, run, judge")
    rows = [{"id": 1, "content": "", "test": [{"input": {"stdin": ""}, "output": {"stdout": "x"}}]}]
    dataset = write_lines(assay.path("dataset.jsonl"), rows)
    code = "printf '%08193d' 0"
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": code} for _ in range(400)])
    result, lines = assay.eval(
        dataset, completions, "--type", "stdio", "--set", "extract=none", "--language", "bash", "--jobs", "8",
        "--pipeline", own,
    )
    assert result.rc == 0 and len(lines) == 400, result
    # Which comes first, its exit or our count, is open; that it was not accepted, and is no fault of ours, is not.
    assert {line["outcome"] for line in lines} <= {"output_limit", "wrong_answer"}


@pytest.mark.parametrize("language,code", [("python", "print('hi')"), ("bash", "exec 0<&-; sleep 0.2; echo hi")])
def test_stdin_that_is_not_read(assay, language, code):
    """Writing to a program that does not read, or has gone, is its right and no fault of anybody."""
    step = assay.step(language, code, stdin=b"x" * 5 * MIB)
    assert (step["status"], step["return_code"], step["stdout"]) == ("finished", 0, "hi\n")


def test_large_stdin_and_stdout_at_once(assay):
    """Writing all of stdin before reading stdout is a deadlock."""
    data = bytes(range(256)) * (20 * MIB // 256)
    own = assay.limits("output: 32MiB")
    step = assay.step("bash", "exec cat", "--pipeline", own, stdin=data)
    assert (step["status"], step["return_code"]) == ("finished", 0)
    assert exact(step, "stdout") == data


@pytest.mark.parametrize(
    "code,seen",
    [
        ("import sys; sys.stdout.write(sys.stdin.buffer.read().decode())", "one\ntwo\nthree\n"),
        ("import sys; input(); sys.stdout.write(sys.stdin.readline())", "two\n"),
        ("import os; print(os.read(0, 10))", "b'one\\ntwo\\nth'\n"),
        ("print(open('/dev/stdin').read(), end='')", "one\ntwo\nthree\n"),
        ("import sys; sys.stdout.write(''.join(sys.stdin))", "one\ntwo\nthree\n"),
    ],
)
def test_stdin_is_a_real_one(assay, code, seen):
    """A stand-in for stdin within the program's process lacks views of it, or keeps a place for each."""
    step = assay.step("python", code, stdin="one\ntwo\nthree\n")
    assert (step["return_code"], step["stdout"]) == (0, seen)


def test_no_stdin_is_an_empty_one(assay):
    """Without --stdin a program must see an end of input at once, never the terminal or pipe of Assay itself."""
    source = assay.source("python", "import sys; print(repr(sys.stdin.read()))")
    assert assay("run", source, input=b"of assay").out == b"''\n"


def test_order_on_each_stream(assay):
    """Each stream is in the order in which the kernel saw it, and stdout is never mixed into stderr."""
    code = "import os\nprint('buffered')\nos.write(1, b'direct\\n')\nos.write(2, b'error\\n')\n"
    step = assay.step("python", code)
    assert (step["stdout"], step["stderr"]) == ("direct\nbuffered\n", "error\n")


def test_output_of_a_build_is_capped_and_kept(assay):
    """A compiler's output is output: it is shown, and it is bounded."""
    record = assay.run("c", "#error here it is\n")
    assert record["run"] is None and "here it is" in record["build"]["stderr"]
    # Every level doubles the messages.
    flood = "#define A x y;\n" + "int f(void) { return 0; }\n" + "int g(void) { " + "undeclared(; " * 200000 + "}\n"
    record = assay.run("c", flood, timeout=300)
    assert record["run"] is None and record["build"]["stderr_bytes"] > 0


def test_result_lines_show_a_bounded_part(assay):
    """A result file must not grow with what completions print."""
    rows = [{"id": 1, "content": "", "test": [{"input": {"stdin": ""}, "output": {"stdout": "x"}}]}]
    dataset = write_lines(assay.path("dataset.jsonl"), rows)
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": "head -c 1000000 /dev/zero | tr '\\0' x"}])
    result, lines = assay.eval(
        dataset, completions, "--type", "stdio", "--set", "extract=none", "--language", "bash"
    )
    assert result.rc == 0, result
    step = lines[0]["tests"][0]["record"]["run"]
    assert step["stdout_bytes"] >= 1000000 and len(step["stdout"].encode()) <= 4096 and step["stdout_truncated"]
