# SPDX-License-Identifier: Apache-2.0
"""A pipeline file decides what happens; what it says wrongly is told with place and suggestion."""
import pytest
from conftest import write_lines

COMPILED = '```c\n#include <stdio.h>\nint main(void) { puts("2"); }\n```'


def evaluate(assay, pipeline, completion, wanted=("1", "2", "3"), language="c"):
    tests = [{"input": {"stdin": ""}, "output": {"stdout": text}} for text in wanted]
    dataset = write_lines(assay.path("d.jsonl"), [{"id": 1, "content": "", "test": tests}])
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": completion}])
    result, lines = assay.eval(dataset, completions, "--type", "stdio", "--language", language, "--pipeline", pipeline)
    assert result.rc == 0 and len(lines) == 1, result
    return lines[0]


def was_run(line):
    return [bool(test.get("record") and test["record"]["run"]) for test in line["tests"]]


def test_all_stages(assay):
    """The reference for the others: all tests are run, each is judged."""
    line = evaluate(assay, "judge", COMPILED)
    assert line["outcome"] == "wrong_answer" and was_run(line) == [True] * 3
    assert [test["outcome"] for test in line["tests"]] == ["wrong_answer", "accepted", "wrong_answer"]


def test_without_judging(assay):
    """Programs are run, and nothing is said of their answers."""
    line = evaluate(assay, assay.limits("cpu: 5s", "extract, build, run"), COMPILED)
    assert was_run(line) == [True] * 3 and not line["accepted"]
    assert all(test["record"]["run"]["stdout"] == "2\n" for test in line["tests"])
    assert "accepted" not in [test["outcome"] for test in line["tests"]]


def test_build_only(assay):
    """Nothing is run; whether it builds is told."""
    own = assay.limits("cpu: 5s", "extract, build")
    line = evaluate(assay, own, COMPILED)
    assert not any(was_run(line)) and not line["accepted"] and line["outcome"] != "compile_error"
    assert evaluate(assay, own, "```c\nint main( {\n```")["outcome"] == "compile_error"
    record = assay.run("c", "int main(void) { return 5; }", "--pipeline", assay.limits("cpu: 5s", "build"))
    assert record["run"] is None and record["build"]["return_code"] == 0


def test_stop_at_the_first_failure(assay):
    """Tests after a failed one are not run, and are not counted as anything."""
    own = assay.limits("cpu: 5s", "extract, build, run, judge", "stop: first_failure\n")
    line = evaluate(assay, own, COMPILED, ["2", "2", "1"] + ["2"] * 40)
    assert line["outcome"] == "wrong_answer"
    ran = was_run(line)
    assert ran[:3] == [True] * 3 and ran[-1] is False
    assert [test["outcome"] for test in line["tests"]][:3] == ["accepted", "accepted", "wrong_answer"]
    assert evaluate(assay, own, COMPILED, ["2"] * 5)["outcome"] == "accepted"


def test_limits_of_the_pipeline(assay):
    """Tighter limits change what happens; those of the command line go over them."""
    code = "import time\nx = bytearray(b'1') * (100 << 20)\nprint(2)"
    assert evaluate(assay, "judge", code, ["2"], "python")["outcome"] == "accepted"
    tight = assay.limits("memory: 50MiB", "extract, build, run, judge")
    assert evaluate(assay, tight, code, ["2"], "python")["outcome"] in ("memory_limit", "runtime_error")
    own = assay.limits("wall: 1s, cpu: 1s")
    assert assay.step("bash", "sleep 60", "--pipeline", own)["status"] == "time_limit"
    assert assay.step("bash", "sleep 2; echo ok", "--pipeline", own, "--timeout", "30")["stdout"] == "ok\n"


def test_isolation_options(assay):
    """Options of a backend come from the pipeline."""
    own = assay.pipeline(
        "pipeline: own\nisolation: {use: none, options: {uid: 65534}}\nstages: [build, run]\n"
    )
    step = assay.step("bash", "id -u; id -g; touch here && echo written", "--pipeline", own)
    assert step["stdout"] == "65534\n65534\nwritten\n", step
    record = assay.run("c", '#include <unistd.h>\nint main(void) { return getuid() == 65534 ? 7 : 8; }', "--pipeline", own)
    assert record["run"] and record["run"]["return_code"] == 7, record


def test_requirements(assay):
    """A protection that is not there is never skipped in silence: nothing is run without it."""
    own = assay.limits("cpu: 5s", more="require: [network]\n")
    result = assay("run", "--pipeline", own, assay.source("bash", "echo ran"))
    assert result.rc == 4 and b"network" in result.err and b"ran" not in result.out, result
    own = assay.limits("cpu: 5s", more="require: [environment]\n")
    assert assay("run", "--pipeline", own, assay.source("bash", "echo ran")).out == b"ran\n"


@pytest.mark.parametrize(
    "text,place,word",
    [
        ("pipeline: own\nisolation: none\nstages: [build, run]\nlimts: {cpu: 1s}\n", "4:", "limits"),
        ("pipeline: own\nisolation: none\nstages: [build, run]\nlimits: {cpu: 10}\n", "4:15", "10"),
        ("pipeline: own\nisolation: none\nstages: [build, run]\nlimits: {memory: 1GB2}\n", "4:18", "1GB2"),
        ("pipeline: own\nisolation: none\nstages: [build, run]\nlimits: {memory: 1MiB}\n", "4:18", "4MiB"),
        ("pipeline: own\nisolation: none\nstages: [build, run]\nlimits: {cpus: 1s}\n", "4:", "cpu"),
        ("pipeline: own\nisolation: none\nstages: [build, rnu]\n", "3:17", "run"),
        ("pipeline: own\nisolation: non\nstages: [build, run]\n", "2:12", "none"),
        ("pipeline: own\nisolation: {use: none, options: {uuid: 5}}\nstages: [build, run]\n", "2:", "uid"),
        ("pipeline: own\nisolation: none\nisolation: none\nstages: [build, run]\n", "3:1", "isolation"),
        ("pipeline: own\nisolation: &x none\nstages: [build, run]\n", "2:12", ""),
        ("pipeline: own\nisolation: none\nstages: [run]\n", "3:", "build"),
        ("pipeline: own\nisolation: none\nstages: []\n", "3:", ""),
        ("pipeline: own\nisolation: none\nstages: [build, run]\nstop: sometimes\n", "4:7", "first_failure"),
        ("pipeline: own\n\tisolation: none\n", "2:", ""),
        ("pipeline: own\nisolation: none\nstages: [build, run\n", "4:", ""),
        ("- a\n- b\n", "1:1", ""),
        ("", "", ""),
    ],
)
def test_faults_are_told_with_their_place(assay, text, place, word):
    """File, line, column, and what may have been meant."""
    path = assay.pipeline(text)
    result = assay("run", "--pipeline", path, assay.source("bash", "echo ran"))
    assert result.rc == 3 and result.out == b"", result
    message = result.text[1]
    assert (f"{path}:{place}" if place else str(path)) in message and word in message, message


def test_an_unknown_pipeline_is_told(assay):
    """With the names that there are, or the file that is missing."""
    result = assay("run", "--pipeline", "jugde", assay.source("bash", "echo ran"))
    assert result.rc in (2, 3) and b"jugde" in result.err, result
    result = assay("run", "--pipeline", "./absent.yaml", assay.source("bash", "echo ran"))
    assert result.rc in (2, 3) and b"absent.yaml" in result.err, result


def test_explain(assay):
    """--explain prints the plan as JSON, and nothing is run."""
    marker = assay.path("marker")
    source = assay.source("bash", f"touch {marker}")
    result = assay("run", "--explain", "--timeout", "3", "--memory", "77MiB", source)
    assert result.rc == 0 and not marker.exists(), result
    plan = result.json
    text = result.text[0]
    assert plan["run"]["argv"][0] == "bash" and "77MiB" in text and "3s" in text and "main.sh" in text
    compiled = assay("run", "--explain", assay.source("cpp", "int main() {}")).json
    assert compiled["build"]["argv"][0] == "g++" and compiled["run"]["argv"] == ["./main"]
    assert "none" in assay("run", "--explain", source).text[0]
