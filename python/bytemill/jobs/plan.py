"""Plans: files divided into units."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._arguments import byte_limit, check_type
from bytemill.documents.parquet import group_starts
from bytemill.documents.sources import (
    COMPRESSIONS,
    FileRange,
    Reading,
    check_package,
    files_in,
    kind_of,
)
from bytemill.io.atomic import check_folder
from bytemill.io.uris import identity, is_uri, listed, open_input, without_scheme
from bytemill.jobs.work import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bytemill.documents.sources import Field, InvalidUtf8

__all__ = ["Plan", "Unit", "plan"]

VERSION = 1
NAME = "plan.json"

# A unit is the most that is done again after a failure.
UNIT_BYTES = 2 << 30

# A unit that no cut makes smaller is worth a warning from so many bytes on, and so many times what was asked.
LARGE_BYTES = 4 << 30
LARGE_TIMES = 4


class Unit(NamedTuple):
    """The files of one task.

    Attributes:
        ranges: Files and parts of files, in their order.
        size: Their bytes, as stored.
    """

    ranges: list[FileRange]
    size: int


class Plan(NamedTuple):
    """Files divided into units, as stored in a work folder.

    Attributes:
        work: The name of the folder, absolute: tasks run in other folders.
        units: The units; all together are the files in their order.
        sources: Of each file, its size in bytes and the time of its last change in nanoseconds; instead of
            that its ETag on an object store.
        field: As in `plan`.
        lines: As in `plan`.
        errors: As in `plan`.
    """

    work: str
    units: list[Unit]
    sources: dict[str, tuple[int, int | str]]
    field: Field
    lines: bool
    errors: InvalidUtf8

    @classmethod
    def load(cls, work: str | os.PathLike[str]) -> Plan:
        """Reads the plan of a work folder.

        Raises:
            ValueError: It is not a plan, or one of another version.
            OSError: There is none, or it cannot be read.
        """
        stored = Work(work).read(NAME)
        path = Work(work).store.path(NAME)
        if stored.get("version") != VERSION:
            raise ValueError(
                f"{path}: expected a plan of version {VERSION}, got version {stored.get('version')!r}"
            )
        try:
            units = [
                Unit([FileRange(*part) for part in unit["ranges"]], unit["size"]) for unit in stored["units"]
            ]
            sources = {name: (size, changed) for name, (size, changed) in stored["sources"].items()}
            return cls(absolute(work), units, sources, stored["field"], stored["lines"], stored["errors"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path}: expected a plan: {error!r}") from error

    @classmethod
    def of(cls, plan: Plan | str | os.PathLike[str]) -> Plan:
        """Returns a plan, or that of a work folder; errors as `load`."""
        return plan if isinstance(plan, Plan) else cls.load(plan)

    def unit(self, number: int) -> Unit:
        """Returns a unit by its number, from 0.

        Raises:
            ValueError: There is none.
        """
        if not 0 <= number < len(self.units):
            raise ValueError(f"expected a unit from 0 to {len(self.units) - 1}, got {number}")
        return self.units[number]

    @property
    def reading(self) -> Reading:
        """How the files are read."""
        return Reading.checked(self.field, self.lines, self.errors)

    @property
    def sizes(self) -> list[int]:
        """The bytes of each unit, as stored."""
        return [unit.size for unit in self.units]

    def largest_first(self) -> list[int]:
        """Returns the numbers of the units, the largest first: none of them is what all others wait for."""
        return sorted(range(len(self.units)), key=lambda number: -self.units[number].size)

    @contextmanager
    def unchanged(self, unit: Unit) -> Iterator[None]:
        """Checks the files of a unit before and after the body reads them; errors as `check_sources`."""
        self.check_sources(unit)
        yield
        self.check_sources(unit)

    def check_sources(self, unit: Unit) -> None:
        """Raises unless the files of a unit are those that were planned.

        Raises:
            TypeError: It is not a unit.
            ValueError: A file has changed.
            OSError: A file is missing.
        """
        check_type("unit", unit, Unit)
        for name in {part.path for part in unit.ranges}:
            if (found := identity(name)) != self.sources[name]:
                raise ValueError(
                    f"{name}: the file has changed since it was planned, from {self.sources[name][0]} bytes "
                    f"to {found[0]}: make a plan in another work folder"
                )


def plan(  # noqa: PLR0913 - all but the first two have names
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    work: str | os.PathLike[str],
    *,
    field: Field = None,
    lines: bool = False,
    errors: InvalidUtf8 = "strict",
    unit_bytes: int | str = UNIT_BYTES,
) -> Plan:
    """Divides files into units and stores that in a work folder, where it stays the same.

    Files of JSON lines, of text with `lines`, and Parquet are cut, at line breaks and between row groups;
    others are in one unit as a whole, of any size. Small files share a unit.

    Args:
        files: A file or folder, or several; the files in folders are sorted by their names. Every machine
            must know them by these names. Or URIs of objects, folders of them, or globs of them, such as
            "s3://corpus/**/*.parquet", see `bytemill.io.uris`.
        work: The folder for the plan and all that is made by it; made if there is none. Or a URI.
        field: As in `bytemill.count_pieces`.
        lines: As in `bytemill.count_pieces`.
        errors: As in `bytemill.count_pieces`.
        unit_bytes: The size of a unit in bytes, about, as files are stored; at least one. An integer, or
            as "512M".

    Returns:
        The plan; the one that is stored, if it is the same.

    Raises:
        TypeError: An argument is of a wrong type.
        ValueError: An argument has no meaning, there is no file, a file is there twice, a Parquet file is
            damaged, or the folder has another plan, as it has if a file has changed.
        OSError: A file is missing, or the folder cannot be written to.
        ImportError: A file or store needs a package that is not installed.

    Warns:
        UserWarning: A unit is much larger than `unit_bytes`, and has 4 GiB or more.

    Complexity:
        Reads the ends of Parquet files and a line for each cut of other files.
    """
    size = byte_limit("unit_bytes", unit_bytes)
    if size < 1:
        raise ValueError(f"expected unit_bytes of at least 1, got {unit_bytes}")
    reading = Reading.checked(field, lines, errors)
    several = [files] if isinstance(files, (str, os.PathLike)) else files
    place = absolute(work)
    if not is_uri(place):
        check_folder(place)
    sources: dict[str, tuple[int, int | str]] = {}
    for each in several:
        for name, found in files_of(without_scheme(each)).items():
            if name in sources:
                raise ValueError(f"{name}: the file is given twice")
            sources[name] = found
    if not sources:
        raise ValueError("expected files to plan, got none")
    parts = parts_of(
        {name: length for name, (length, _) in sources.items()},
        size,
        has_field=reading.field is not None,
        lines=reading.lines,
    )
    units = list(units_of(parts, size))
    largest = max(units, key=lambda unit: unit.size)
    if largest.size >= max(LARGE_BYTES, LARGE_TIMES * size):
        warnings.warn(
            f"{largest.ranges[-1].path}: a unit has {largest.size} bytes, which one process does: compressed "
            "files, single documents and row groups of Parquet are not cut; write smaller ones",
            UserWarning,
            stacklevel=2,
        )
    made = Plan(
        place,
        units,
        sources,
        None if reading.field is None else list(reading.field),
        reading.lines,
        reading.errors,
    )
    Work(work).write_once(NAME, contents(made), what="another plan, or other files")
    return made


def absolute(work: str | os.PathLike[str]) -> str:
    """Returns the absolute name of a work folder; a URI as it is."""
    name = without_scheme(work)
    return name if is_uri(name) else os.path.abspath(name)  # noqa: PTH100 - links stay


def contents(made: Plan) -> dict[str, Any]:
    """Returns the contents of `plan.json`."""
    return {
        "version": VERSION,
        "field": made.field,
        "lines": made.lines,
        "errors": made.errors,
        "sources": made.sources,
        "units": [{"size": unit.size, "ranges": unit.ranges} for unit in made.units],
    }


def files_of(name: str) -> dict[str, tuple[int, int | str]]:
    """Returns the `identity` of each file that a name stands for, by its full name; errors as `plan`."""
    if is_uri(name):
        files = listed(name)
    else:
        path = Path(name)
        path.stat()
        # Not resolved: links stay.
        names = [os.path.abspath(each) for each in (files_in(path) if path.is_dir() else [path])]  # noqa: PTH100
        files = {each: identity(each) for each in names}
    for each in files:
        check_package(each)
    return files


def units_of(parts: Iterable[tuple[FileRange, int]], size: int) -> Iterator[Unit]:
    """Yields parts of files, with their bytes, in units that are full with `size` bytes."""
    ranges: list[FileRange] = []
    full = 0
    for part, part_bytes in parts:
        ranges.append(part)
        full += part_bytes
        if full >= size:
            yield Unit(ranges, full)
            ranges, full = [], 0
    if ranges:
        yield Unit(ranges, full)


def parts_of(
    lengths: Mapping[str, int], size: int, *, has_field: bool, lines: bool
) -> Iterator[tuple[FileRange, int]]:
    """Yields the parts of files that are of about `size` bytes, and their bytes."""
    for name, length in lengths.items():
        kind = kind_of(name, has_field=has_field)
        if kind == "parquet" and length > size:
            yield from row_ranges(name, size)
        elif length > size and (kind == "json lines" or lines) and not name.lower().endswith(COMPRESSIONS):
            yield from byte_ranges(name, length, size)
        else:
            yield FileRange(name), length


def byte_ranges(name: str, length: int, size: int) -> Iterator[tuple[FileRange, int]]:
    """Yields the ranges of a file of lines, cut behind the first line break after `size` bytes."""
    start = 0
    with open_input(name) as file:
        while start < length:
            end = length
            if length - start > size:
                file.seek(start + size - 1)
                file.readline()
                end = min(file.tell(), length)
            yield FileRange(name, start, None if end == length else end), end - start
            start = end


def row_ranges(name: str, size: int) -> Iterator[tuple[FileRange, int]]:
    """Yields the ranges of rows of a Parquet file, cut between row groups."""
    with open_input(name) as file:
        groups = group_starts(file, name)
    start = full = 0
    for at, (_, group_bytes) in enumerate(groups):
        full += group_bytes
        if at + 1 == len(groups):
            yield FileRange(name, start), full
        elif full >= size:
            end = groups[at + 1][0]
            yield FileRange(name, start, end), full
            start, full = end, 0
    if not groups:
        yield FileRange(name), 0
