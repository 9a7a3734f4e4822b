# SPDX-License-Identifier: Apache-2.0
"""Plugins are folders: good ones work without the core knowing them, broken ones say why and harm nobody."""
import pytest
from conftest import PREFIX, write_lines

GOOD = """assay: 1
kind: language
name: mine
version: 1.0.0
summary: shell by another name
aliases: [my]
requires: {programs: [{name: sh, package: dash}]}
options:
  word: {type: enum, of: [hello, goodbye], default: hello, help: what is said first}
source: main.mine
env: {WORD: "${option.word}", MIB: "${memory.mib}"}
run: {argv: [sh, "${source}"]}
"""


def folder(assay, name, text, kind="languages"):
    place = assay.folder / "plugins" / kind / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "plugin.yaml").write_text(text)
    return place


def listed(assay, *args):
    result = assay("plugins", "--json", "--plugin-path", assay.folder / "plugins", *args)
    assert result.rc == 0, result
    return {(plugin["kind"], plugin["name"]): plugin for plugin in result.json}


def test_shipped_plugins_are_listed(assay):
    """Everything in the tree, by kind, with its state."""
    result = assay("plugins", "--json")
    assert result.rc == 0, result
    plugins = {(plugin["kind"], plugin["name"]) for plugin in result.json}
    on_disk = {
        (kind, path.parent.name)
        for kind, plural in (("language", "languages"), ("isolation", "isolation"), ("dataset", "datasets"))
        for path in (PREFIX / "lib/assay/plugins" / plural).glob("*/plugin.yaml")
    }
    assert plugins == on_disk and len(plugins) >= 6
    assert not [plugin for plugin in result.json if plugin["state"] == "broken"]
    languages = assay("plugins", "language", "--json").json
    assert {plugin["kind"] for plugin in languages} == {"language"}
    table = assay("plugins").text[0]
    assert all(name in table for _, name in plugins)


def test_shipped_plugins_keep_their_contract(assay):
    """`assay check` on each of them."""
    paths = sorted(path.parent for path in (PREFIX / "lib/assay/plugins").glob("*/*/plugin.yaml"))
    for path in paths:
        result = assay("check", path)
        assert result.rc == 0 and b"FAILED" not in result.out, (path, result)


def test_a_language_of_ones_own(assay):
    """A folder with a YAML file is a language: by name, by alias, and by the ending of its source."""
    place = folder(assay, "mine", GOOD)
    assert assay("check", place).rc == 0
    source = assay.path("x.mine")
    source.write_text("echo $WORD $MIB")
    path = ("--plugin-path", assay.folder / "plugins", "--memory", "100MiB")
    for args in ((*path, "--language", "mine"), (*path, "--language", "my"), path):
        result = assay("run", *args, source)
        assert (result.rc, result.out) == (0, b"hello 100\n"), result
    result = assay("run", "--language", "my", source, env={"ASSAY_PLUGIN_PATH": str(assay.folder / "plugins")})
    assert result.out.startswith(b"hello"), result


BROKEN = {
    # name: (text, where in the file, word of the message)
    "notyaml": ("assay: 1\nkind: [language\n", "plugin.yaml:", ""),
    "unknownkey": (GOOD.replace("mine", "unknownkey").replace("summary:", "sumary:"), "plugin.yaml:5:", "summary"),
    "wrongname": (GOOD, "plugin.yaml:3:", "wrongname"),
    "wrongkind": (GOOD.replace("mine", "wrongkind").replace("kind: language", "kind: langage"), "plugin.yaml:2:", "language"),
    "wrongversion": (GOOD.replace("mine", "wrongversion").replace("assay: 1", "assay: 99"), "plugin.yaml:1:", "99"),
    "nomodule": (GOOD.replace("mine", "nomodule") + "module: not_there\n", "plugin.yaml:13:", "not_there"),
    "twice": (GOOD.replace("mine", "twice") + "source: other\n", "plugin.yaml:13:", "source"),
    "anchor": (GOOD.replace("mine", "anchor").replace("[my]", "&a [my]"), "plugin.yaml:6:", ""),
    "wrongoption": (GOOD.replace("mine", "wrongoption").replace("default: hello", "default: hi"), "plugin.yaml:9:", "hi"),
    "unknownvalue": (GOOD.replace("mine", "unknownvalue").replace("option.word", "option.wrod"), "plugin.yaml:11:", "word"),
    "unitless": (GOOD.replace("mine", "unitless") + "limits: {run: {cpu: 10}}\n", "plugin.yaml:13:", "10"),
    "deep": ("[" * 70000, "plugin.yaml:1:", ""),
    "empty": ("", "plugin.yaml", ""),
    "binary": ("assay: 1\nname: \x00\n", "plugin.yaml:", ""),
}


# What only the module can know, which listing does not ask.
FOUND_WHEN_USED = {"unknownvalue"}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_descriptor_names_its_place(assay, name):
    """File and line of the fault, a suggestion where there is one; and everything else keeps working."""
    text, place, word = BROKEN[name]
    path = folder(assay, name, text.replace("[my]", "[]"))
    folder(assay, "mine", GOOD)
    plugins = listed(assay)
    broken = plugins[("language", name)]
    if name not in FOUND_WHEN_USED:
        assert broken["state"] == "broken" and place in broken["reason"] and word in broken["reason"], broken
    assert plugins[("language", "mine")]["state"] == "ready"
    source = assay.source("bash", "echo fine")
    assert assay("run", "--plugin-path", assay.folder / "plugins", source).out == b"fine\n"
    result = assay("run", "--plugin-path", assay.folder / "plugins", "--language", name, source)
    assert result.rc == 3 and place in result.text[1], result
    result = assay("check", path)
    assert result.rc == 1 and "FAILED" in result.text[0] and place in result.text[0] + result.text[1], result


def test_a_module_that_is_no_module(assay):
    """A text file, an object without our symbol, a stray .la file that would load something else."""
    text = GOOD.replace("mine", "fake").replace("[my]", "[]") + "module: fake\n"
    place = folder(assay, "fake", text)
    (place / "fake.so").write_text("no shared object")
    assert listed(assay)[("language", "fake")]["state"] == "broken"
    (place / "fake.so").unlink()
    (place / "fake.la").write_text("dlname='command.so'\n")
    plugin = listed(assay)[("language", "fake")]
    assert plugin["state"] == "broken" and plugin["reason"], plugin


def test_a_missing_toolchain_is_no_wrong_answer(assay):
    """`go: command not found` that counts as a failure of every completion."""
    text = GOOD.replace("mine", "ghost").replace("[my]", "[]").replace("name: sh,", "name: no-such-program,")
    folder(assay, "ghost", text.replace("package: dash", "package: ghost-tools"))
    plugin = listed(assay)[("language", "ghost")]
    assert plugin["state"] == "unavailable" and "ghost-tools" in plugin["reason"], plugin
    path = ("--plugin-path", assay.folder / "plugins", "--language", "ghost")
    result = assay("run", *path, assay.source("bash", "true"))
    assert result.rc == 4 and b"ghost-tools" in result.err, result
    tests = [{"input": {"stdin": ""}, "output": {"stdout": "1"}}]
    dataset = write_lines(assay.path("d.jsonl"), [{"id": 1, "content": "", "test": tests}])
    completions = write_lines(assay.path("c.jsonl"), [{"id": 1, "completion": "echo 1"}])
    result, lines = assay.eval(dataset, completions, "--type", "stdio", *path)
    assert result.rc in (3, 4) or {line["outcome"] for line in lines} == {"infrastructure"}, (result, lines)


def test_unknown_names_get_a_suggestion(assay):
    """A typing error is told with what was meant."""
    result = assay("run", "--language", "pyhton", assay.source("bash", "true"))
    assert result.rc in (2, 3) and b"python" in result.err, result
    result = assay("evla")
    assert result.rc == 2 and b"eval" in result.err, result
    tests = [{"input": {"stdin": ""}, "output": {"stdout": "1"}}]
    dataset = write_lines(assay.path("d.jsonl"), [{"id": 1, "content": "", "test": tests}])
    result, _ = assay.eval(dataset, dataset, "--type", "stdoi")
    assert result.rc in (2, 3) and b"stdio" in result.err, result
    result, _ = assay.eval(dataset, dataset, "--type", "stdio", "--set", "comprae=exact")
    assert result.rc in (2, 3) and b"compare" in result.err, result
    result, _ = assay.eval(dataset, dataset, "--type", "stdio", "--set", "compare=exakt")
    assert result.rc in (2, 3) and b"exact" in result.err, result


def test_doctor(assay):
    """What this host can do, for people and for programs."""
    result = assay("doctor")
    assert result.rc in (0, 4) and b"memory" in result.out, result
    assert isinstance(assay("doctor", "--json").json, dict)
