# SPDX-License-Identifier: Apache-2.0
"""The cases that each language brings with it: plugins/languages/*/tests/cases.jsonl.

A case is {"name", "code", "stdin"?, "expect": {...}}: what the run step must hold, or with "step": "build" the build
step. {"stdout": "x"} is the whole of it, {"stdout_has": "x"} a part.
"""
import pytest
from conftest import REPO, read_lines

CASES = [
    pytest.param(path.parent.parent.name, case, id=f"{path.parent.parent.name}-{case.get('name', number)}")
    for path in sorted((REPO / "plugins/languages").glob("*/tests/cases.jsonl"))
    for number, case in enumerate(read_lines(path), 1)
]


@pytest.fixture(scope="module")
def states():
    return {}


def state_of(assay, states, language):
    if not states:
        states.update({plugin["name"]: plugin for plugin in assay("plugins", "language", "--json").json})
    return states[language]


@pytest.mark.parametrize("language,case", CASES)
def test_case(assay, states, language, case):
    """One program with the record that it must give."""
    plugin = state_of(assay, states, language)
    if plugin["state"] == "unavailable":
        pytest.skip(f"no toolchain for {language}: {plugin['reason']}")
    record = assay.run(language, case["code"], stdin=case.get("stdin"))
    expect = dict(case["expect"])
    step = record[expect.pop("step", "run")]
    assert step, record
    for key, value in expect.items():
        if key.endswith("_has"):
            assert value in step[key[: -len("_has")]], step
        else:
            assert step[key] == value, step


def test_every_language_has_cases():
    """A language without cases is not tested at all."""
    languages = {path.parent.name for path in (REPO / "plugins/languages").glob("*/plugin.yaml")}
    assert languages == {param.values[0] for param in CASES}
