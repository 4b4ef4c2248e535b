"""`python -m benches`: each name is of a module that measures, and of sections that are written."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import report.__main__ as pages
from support.examples import ROOT

PROGRAM = ROOT / "benches" / "__main__.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", "benches", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_each_name_is_of_modules_and_sections_that_exist() -> None:
    spec = importlib.util.spec_from_file_location("measurements", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    measurements = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = measurements
    spec.loader.exec_module(measurements)
    for measurement in measurements.MEASUREMENTS.values():
        for module in filter(None, [measurement.module, measurement.page]):
            assert importlib.util.find_spec(module) is not None, module
        assert set(measurement.sections) <= set(pages.WRITERS)
        if measurement.result:
            assert (ROOT / "benches" / "results" / measurement.result).exists()


def test_names_are_listed_where_none_is_given_or_known() -> None:
    listed, unknown = run("--help"), run("speed")
    assert (listed.returncode, unknown.returncode) == (0, 2)
    assert listed.stdout == unknown.stdout
    assert "  sessions " in listed.stdout


def test_options_are_those_of_the_measurement() -> None:
    done = run("tiers", "--help")
    assert done.returncode == 0
    assert "--rounds" in done.stdout
