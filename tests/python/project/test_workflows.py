"""The workflows: what they run exists, and what they test is what the package says it supports."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

yaml: Any = importlib.import_module("yaml")
tomllib: Any = pytest.importorskip("tomllib")

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))
}
MAKEFILE = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "Makefile", *sorted((ROOT / "mk").glob("*.mk")))
)
TARGETS = set(re.findall(r"^([a-z][a-z0-9_-]*):", MAKEFILE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CRATE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))


def jobs(workflow: str) -> Iterator[dict[str, Any]]:
    """Yields the jobs of a workflow."""
    yield from WORKFLOWS[workflow]["jobs"].values()


def values(job: dict[str, Any], name: str) -> list[str]:
    """Returns the values of an entry of a job's matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    return [*matrix.get(name, []), *(entry[name] for entry in matrix.get("include", []) if name in entry)]


def commands(workflow: str) -> Iterator[str]:
    """Yields what the steps of a workflow run, with the target of each row of a matrix."""
    for job in jobs(workflow):
        for step in job["steps"]:
            if "run" in step:
                for target in values(job, "target") or [""]:
                    yield step["run"].replace('"$TARGET"', target)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_every_command_is_a_target(workflow: str) -> None:
    found = [*commands(workflow)]
    assert found
    for command in found:
        match = re.match(r"make ([a-z][a-z0-9_-]*)\b", command)
        assert match, command
        assert match[1] in TARGETS, command


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_no_command_has_words_of_who_starts_it(workflow: str) -> None:
    """The recipe's shell would read them: quotes in the workflow do not reach there."""
    text = (FOLDER / workflow).read_text(encoding="utf-8")
    assert not re.search(r"\$\{\{\s*(github\.event\.)?inputs\.", text)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_actions_are_pinned_and_permissions_are_named(workflow: str) -> None:
    assert WORKFLOWS[workflow]["permissions"] == {}
    for job in jobs(workflow):
        assert "permissions" in job
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), step


def test_pythons_are_those_of_the_package() -> None:
    prefix = "Programming Language :: Python :: "
    named = [entry.removeprefix(prefix) for entry in PROJECT["project"]["classifiers"]]
    supported = [entry for entry in named if re.fullmatch(r"3\.\d+", entry)]
    tested = {version for job in jobs("test.yml") for version in values(job, "python")}
    assert tested == {*supported}
    assert PROJECT["project"]["requires-python"] == f">={supported[0]}"


def test_the_oldest_rust_is_that_of_the_crate() -> None:
    steps = WORKFLOWS["test.yml"]["jobs"]["oldest-rust"]["steps"]
    assert [step["env"]["RUSTUP_TOOLCHAIN"] for step in steps if "run" in step] == [
        CRATE["package"]["rust-version"]
    ]


LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "requirements").glob("*.txt")}
PINNED = re.compile(r"^([a-z0-9.-]+)==(\S+)", re.MULTILINE)


def test_what_the_workflows_install_is_locked() -> None:
    [groups] = re.findall(r"^LOCKS = (.+)$", MAKEFILE, re.MULTILINE)
    assert {*groups.split()} == {*LOCKS}
    assert {*re.findall(r"\$\(call group,(\w+)\)", MAKEFILE)} == {*LOCKS}


def requirements(group: str) -> Iterator[str]:
    """Yields what a group asks for, with the groups that it includes."""
    for entry in PROJECT["dependency-groups"][group]:
        if isinstance(entry, dict):
            yield from requirements(entry["include-group"])
        else:
            yield entry


@pytest.mark.parametrize("group", LOCKS)
def test_locked_packages_are_those_of_the_group(group: str) -> None:
    """Everything that a group asks for has a version and hashes, and the same version in all groups."""
    locked = dict(PINNED.findall(LOCKS[group]))
    assert LOCKS[group].count("--hash=sha256:") > len(locked)
    for requirement in requirements(group):
        match = re.match(r"([\w.-]+)(?:==([\w.]+))?", requirement)
        assert match
        assert match[1] in locked, "run `make lock`"
        assert match[2] in {None, locked[match[1]]}, "run `make lock`"
    shared = dict(PINNED.findall(LOCKS["dev"]))
    assert {name: shared[name] for name in locked if name in shared} == {
        name: version for name, version in locked.items() if name in shared
    }
