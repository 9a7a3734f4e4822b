# SPDX-License-Identifier: Apache-2.0
"""Thousands of runs in one Assay: nothing of it grows."""
import os
import time

from conftest import IS_SANITIZED, write_lines

RUNS = 2000
SLOTS = 4


def observe(pid):
    """Resident memory in kB, open descriptors, threads, children."""
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = len(file.read().split())
    return int(fields["VmRSS"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"]), children


def test_two_thousand_runs_leave_the_process_as_it_was(assay):
    """A slow leak of memory, descriptors, children, folders or cgroups ends a service after a while."""
    tests = [{"input": {"stdin": str(i)}, "output": {"stdout": str(i)}} for i in range(20)]
    dataset = write_lines(assay.path("d.jsonl"), [{"id": 1, "content": "", "test": tests}])
    # One in ten leaves a daemon behind, one in ten is killed, one in ten fails.
    kinds = ["cat"] * 7 + ["setsid sleep 605 & cat", "cat; kill -9 $$", "cat; exit 3"]
    rows = [{"id": 1, "completion": kinds[i % 10] + f" # {i}"} for i in range(RUNS // 20)]
    completions, output = write_lines(assay.path("c.jsonl"), rows), assay.path("r.jsonl")
    process = assay.start(
        "eval", "--dataset", dataset, "--type", "stdio", "--set", "extract=none", "--language", "bash", "--jobs",
        str(SLOTS), "--completions", completions, "--output", output, "--quiet",
    )
    samples = []
    while process.poll() is None:
        try:
            boxes = sum(len(folders) for path in assay.cgroups() for _, folders, _ in os.walk(path))
            samples.append((*observe(process.pid), len(os.listdir(assay.temp)), boxes))
        except (OSError, KeyError):
            pass
        time.sleep(0.05)
    assert process.returncode == 0
    lines = output.read_text().splitlines()
    assert len(lines) == len(rows)
    assert not any('"infrastructure"' in line for line in lines)
    assert sum('"accepted":true' in line.replace(" ", "") for line in lines) == len(rows) * 8 // 10
    # What the start costs is over after a fifth.
    samples = samples[len(samples) // 5 :]
    half = len(samples) // 2
    assert half >= 10, "too few samples to compare"
    first, second = samples[:half], samples[half:]
    worst = lambda part, column: max(sample[column] for sample in part)
    names = ("resident kB", "descriptors", "threads", "children", "temporary folders", "cgroups of boxes")
    margins = (1024, 8 * SLOTS, 0, 2 * SLOTS, 0, 8 * SLOTS)
    for column, (name, margin) in enumerate(zip(names, margins)):
        if column == 0 and IS_SANITIZED:
            continue  # freed memory is kept in quarantine
        before, after = worst(first, column), worst(second, column)
        print(f"{name}: at most {before}, then {after}")
        assert after <= before + margin, name
    assert worst(samples, 1) < 200 and worst(samples, 4) <= 1
