"""The work folder: what is written once, and commits."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bytemill.core import __version__
from bytemill.errors import JobError
from bytemill.formats.json_file import json_bytes
from bytemill.jobs.stores import Facts, facts_of, sha256_of, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from bytemill.jobs.executors import Executor
    from bytemill.jobs.stores import Store

__all__ = [
    "FOLDER",
    "FOLDERS",
    "Commit",
    "Kind",
    "Progress",
    "Report",
    "Work",
    "attempt",
    "forget",
    "mark_of",
    "withdraw",
]

# What is done by units, and the folder of its outputs.
Kind: TypeAlias = Literal["count", "reduce", "shard", "compact"]
FOLDERS: dict[Kind, str] = {
    "count": "counts",
    "reduce": "merged",
    "shard": "shards",
    "compact": "compacted",
}


class Commit(NamedTuple):
    """Says that a unit is done.

    Attributes:
        files: Its outputs, by their names in the work folder.
        sums: What was counted, such as "pieces" or "tokens".
    """

    files: dict[str, Facts]
    sums: dict[str, int]


class Work:
    """A work folder, which several processes and machines may share."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Takes the folder, or the URI of a place on an object store; it need not exist."""
        self.store: Store = store_of(folder)

    # --- What is written once ---

    def write_once(self, name: str, contents: dict[str, Any], *, what: str) -> None:
        """Writes a JSON file, or checks that it has these contents.

        Raises:
            ValueError: It has others: the folder belongs to another job.
            OSError: It cannot be written.
        """
        if not self.store.create(name, data := json_of(contents)) and self.store.read([name]) != [data]:
            raise ValueError(
                f"{self.store.path(name)}: the folder belongs to a job with {what}: give another work "
                "folder, or remove this one"
            )

    def read(self, name: str) -> dict[str, Any]:
        """Returns the contents of a JSON file.

        Raises:
            ValueError: It is not a JSON object.
            OSError: It cannot be read.
        """
        return self._object(name, *self.store.read([name]))

    def options(self, kind: Kind) -> dict[str, Any]:
        """Returns the options of a kind of units, which were written once.

        Raises:
            ValueError: They were written by another version.
            OSError: They cannot be read.
        """
        options = self.read(f"{kind}.json")
        if options.get("bytemill") != __version__:
            raise ValueError(
                f"the job was begun by bytemill {options.get('bytemill')}, and this is {__version__}"
            )
        return options

    def has_begun(self, kind: Kind) -> bool:
        """Returns whether there are options of a kind of units."""
        return self.store.exists(f"{kind}.json")

    def _object(self, name: str, data: bytes) -> dict[str, Any]:
        """Parses the contents of a JSON file; errors as `read`."""
        path = self.store.path(name)
        try:
            contents = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: expected JSON: {error}") from error
        if not isinstance(contents, dict):
            raise ValueError(f"{path}: expected a JSON object, got {type(contents).__name__}")  # noqa: TRY004
        return contents

    # --- Units ---

    def run_left(  # noqa: PLR0913 - the last two have names
        self,
        kind: Kind,
        numbers: Sequence[int],
        task: Callable[[int], None],
        executor: Executor,
        *,
        progress: Report | None = None,
        sizes: Sequence[int] | None = None,
    ) -> None:
        """Runs the tasks of the units that are not done.

        Args:
            kind: The kind of the units.
            numbers: Their numbers, in the order in which they are begun.
            task: What does a unit.
            executor: What runs the tasks.
            progress: Called when this begins, and whenever a unit is done.
            sizes: The bytes of each unit, for that; none if not given.

        Raises:
            Exception: What a task or `progress` has raised.
        """
        done = self.done(kind).intersection(numbers)
        sums: Counter[str] = Counter()

        def report() -> None:
            if progress is not None:
                size = sum(sizes[number] for number in done) if sizes else 0
                progress(Progress(kind, len(done), len(numbers), size, sums["text_bytes"], sums["tokens"]))

        report()
        for number in executor.run(task, [number for number in numbers if number not in done]):
            if progress is not None and sizes and number not in done:
                sums.update(self.commits(kind, [number])[number].sums)
            done.add(number)
            report()

    @contextmanager
    def unit(self, kind: Kind, number: int) -> Iterator[tuple[Path, dict[str, int]]]:
        """Does a unit: publishes and commits what the body has written.

        Args:
            kind: The kind.
            number: The number of the unit, which is not done.

        Yields:
            A folder of this machine, for the outputs of the unit; and a place for the sums of its commit.

        Raises:
            JobError: So many processes died of the unit that it is not begun again, see `attempts`.
            OSError: An output cannot be written, unless another process has done the unit meanwhile.
        """
        name = name_of(kind, number)
        sums: dict[str, int] = {}
        with attempt(self.store, name):
            try:
                with self.store.scratch(name) as folder:
                    yield folder, sums
                    self.commit(kind, number, folder, sums)
            except OSError:
                # The job may have been finished without this process, and its scratch folder been removed.
                if not self.is_done(kind, number):
                    raise

    def commit(self, kind: Kind, number: int, folder: Path, sums: dict[str, int]) -> None:
        """Publishes the outputs of a unit, and writes its commit."""
        if self.is_done(kind, number):
            return
        root = FOLDERS[kind]
        commit = Commit({f"{root}/{name}": facts for name, facts in facts_of(folder).items()}, sums)
        for path in sorted(folder.iterdir()):
            self.store.publish(path, f"{root}/{path.name}")
        name = name_of(kind, number)
        self.store.write(f"commits/{name}.json", json_of(commit._asdict()))
        # Processes that have died of it no longer count.
        forget(self.store, name)

    # --- Commits ---

    def is_done(self, kind: Kind, number: int) -> bool:
        """Returns whether a unit has a commit."""
        return self.store.exists(f"commits/{name_of(kind, number)}.json")

    def done(self, kind: Kind) -> set[int]:
        """Returns the numbers of the units that have a commit."""
        names = [name.removesuffix(".json") for name in self.store.names("commits")]
        numbers = [name.removeprefix(f"{kind}-") for name in names if name.startswith(f"{kind}-")]
        return {int(number) for number in numbers if number.isdecimal()}

    def commits(self, kind: Kind, numbers: Iterable[int] | None = None) -> dict[int, Commit]:
        """Returns the commits of units that are done, of all if not given, in the order of their numbers.

        Raises:
            ValueError: One is malformed.
        """
        found = {}
        wanted = sorted(self.done(kind) if numbers is None else numbers)
        names = {number: f"commits/{name_of(kind, number)}.json" for number in wanted}
        for (number, name), data in zip(names.items(), self.store.read([*names.values()]), strict=True):
            contents = self._object(name, data)
            try:
                files = {file: Facts(*facts) for file, facts in contents["files"].items()}
                found[number] = Commit(files, dict(contents["sums"]))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ValueError(f"{self.store.path(name)}: expected a commit: {error!r}") from error
        return found

    def all_commits(self, kind: Kind, units: int) -> list[Commit]:
        """Returns the commits of all units.

        Raises:
            ValueError: A unit is not done, or a commit malformed.
        """
        commits = self.commits(kind)
        if missing := [number for number in range(units) if number not in commits]:
            raise ValueError(
                f"expected all {units} units of {FOLDERS[kind]} to be done, but {len(missing)} are not, the "
                f"first of them unit {missing[0]}"
            )
        return [commits[number] for number in range(units)]

    def checked(self, files: Mapping[str, Facts], *, contents: bool = False) -> list[str]:
        """Returns the paths or URIs of files that were committed.

        Args:
            files: What they were then, by their names.
            contents: Whether to compare the contents of the files, and not only their sizes.

        Raises:
            ValueError: One is something else now.
            OSError: One cannot be read.
        """
        for name, facts in files.items():
            is_same = self.store.size(name) == facts.size
            if is_same and contents:
                with self.store.open(name) as file:
                    is_same = sha256_of(file) == facts.sha256
            if not is_same:
                raise ValueError(
                    f"{self.store.path(name)}: expected the {facts.size} bytes that were committed: the file "
                    "has changed since; remove the commit that names it from "
                    f"{self.store.path('commits')} to do the unit again"
                )
        return list(map(self.store.path, files))


def name_of(kind: Kind, number: int) -> str:
    """Returns what a unit of a kind is called."""
    return f"{kind}-{number:06}"


def json_of(contents: dict[str, Any]) -> bytes:
    """Returns a JSON object as the bytes of a file."""
    return json_bytes(contents, indent=1) + b"\n"


# The progress of a step of a job, while it runs.


class Progress(NamedTuple):
    """The progress of a step of a job.

    Attributes:
        step: "count", "reduce" (adding up the counts of all units), "shard" or "compact".
        done: How many units, parts of the counts, or large shards are done.
        units: How many there are.
        source_bytes: The bytes of the files of the units that are done, as stored; 0 in other steps.
        text_bytes: The bytes of text of the units that this call has done, as UTF-8; 0 in other steps.
        tokens: The ids of the units that this call has written to shards.
    """

    step: Kind
    done: int
    units: int
    source_bytes: int
    text_bytes: int = 0
    tokens: int = 0


# What is called when a step begins, and after each unit.
Report: TypeAlias = "Callable[[Progress], object]"


# Attempts at units: marks of those that have begun, which stay if a process dies.
#
# A unit that kills its process, most often because a document takes more memory than there is, would do so
# for ever: engines run a task again. But an attempt without an end need not be one that the unit has
# killed: it may still run, its node may be lost or taken back, or its job may have been killed as a whole.
# Who finds a mark on another machine cannot tell. So a mark says which process on which machine makes the
# attempt, and which process has started that one, such as the server of an engine or the driver; and each
# attempt at any unit looks at all marks of its own machine. A process that is gone while the one that had
# started it is still there has died alone, which is recorded as a death of its unit. If a whole machine is
# lost, no death is recorded; nor if a program whose process is ended from outside withdraws its attempts.

FOLDER = "attempts"

# A mark is called by its unit, the machine, the process, its parent, and a random number.
FIELDS = 5

# What the name of a mark ends in once its process has died alone.
DEAD = ".dead"

# A unit with this many recorded deaths is not started again.
MOST_DEATHS = 3

# Nor is one with this many unfinished attempts, whatever the reason: where each process has a machine of its
# own, as in some containers, deaths are not recorded.
MOST_ATTEMPTS = 20


# The marks of this process, and where they are.
unfinished: dict[str, Store] = {}


@contextmanager
def attempt(store: Store, unit: str) -> Iterator[None]:
    """Marks a unit as begun while the body runs.

    Args:
        store: Where the marks are.
        unit: The name of the unit, such as "count-000123".

    Raises:
        JobError: The unit has `MOST_DEATHS` deaths or `MOST_ATTEMPTS` unfinished attempts, and is not started
            again.
        OSError: The store cannot be read or written.
    """
    marks = [mark for mark in with_deaths(store) if mark.startswith(f"{unit}.")]
    deaths = sum(mark.endswith(DEAD) for mark in marks)
    if deaths >= MOST_DEATHS or len(marks) >= MOST_ATTEMPTS:
        how = (
            f"has killed {deaths} processes, perhaps because memory ran out"
            if deaths >= MOST_DEATHS
            else f"was begun {len(marks)} times without an end"
        )
        raise JobError(f"unit {int(unit[-6:])} {how}; remove {store.path(f'{FOLDER}/{unit}')}.* to try again")
    mark = f"{FOLDER}/{mark_of(unit, os.getpid(), os.getppid())}"
    unfinished[mark] = store
    try:
        store.write(mark, b"")
        yield
    finally:
        # The mark stays if the process dies.
        store.remove(mark)
        del unfinished[mark]


def withdraw() -> None:
    """Removes the marks of this process, which is ended from outside."""
    for mark, store in list(unfinished.items()):
        store.remove(mark)


def forget(store: Store, unit: str) -> None:
    """Removes the marks of all attempts at a unit, which is done."""
    for mark in store.names(FOLDER):
        if mark.startswith(f"{unit}."):
            store.remove(f"{FOLDER}/{mark}")


def mark_of(unit: str, process: int, parent: int) -> str:
    """Returns the name of a new mark for an attempt at a unit by a process of this machine."""
    return ".".join([unit, machine(), identity(process), identity(parent), os.urandom(8).hex()])


def with_deaths(store: Store) -> list[str]:
    """Returns the names of all marks, after those who died alone on this machine were noted."""
    marks = store.names(FOLDER)
    for number, mark in enumerate(marks):
        if mark.endswith(DEAD) or len(fields := mark.split(".")) != FIELDS:
            continue
        _, where, process, parent, _ = fields
        if where == machine() and died_alone(process, parent):
            # Others may do the same at this moment.
            store.write(f"{FOLDER}/{mark}{DEAD}", b"")
            store.remove(f"{FOLDER}/{mark}")
            marks[number] = f"{mark}{DEAD}"
    return sorted(set(marks))


def died_alone(process: str, parent: str) -> bool:
    """Returns whether a process of this machine is known to be gone, and its parent is not."""
    return is_there(process) is False and is_there(parent) is True


def is_there(process: str) -> bool | None:
    """Returns whether a process of this machine is there; `None` where systems do not tell."""
    number, _, started = process.partition("-")
    return started_at(int(number)) == started if started else None


def identity(process: int) -> str:
    """Returns a name for a process of this machine that no later one has: its number, and when it started."""
    return f"{process}-{started_at(process)}"


def started_at(process: int) -> str:
    """Returns when a process of this machine started; nothing if it has ended, or systems do not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    # One that has ended may wait for being waited for.
    return "" if fields[0] in {"Z", "X"} else fields[19]


@functools.cache
def machine() -> str:
    """Returns a name for this machine since it was started; one for each container of it."""
    facts = [platform.node()]
    with suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        facts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
