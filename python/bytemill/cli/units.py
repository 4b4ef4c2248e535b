"""Options that make a command work by units, in processes of this machine or on a cluster."""

from __future__ import annotations

import functools
import os
import shutil
import signal
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bytemill.cli.options import FileName, byte_size
from bytemill.cli.reading import STANDARD_INPUT, Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading
    from bytemill.jobs import Executor, Plan, Progress
    from bytemill.training.counts import PieceCounts

__all__ = ["Units", "showing", "unit_bytes_option", "units_options", "withdrawing"]

# At most so much is counted again after `train --resume` was killed, or one larger file.
RESUMED_BYTES = 1 << 26

LABELS = {"count": "counting", "reduce": "adding up", "shard": "encoding", "compact": "copying"}

# The argument `unit_bytes`.
unit_bytes_option = click.option(
    "--unit-bytes",
    callback=byte_size(),
    default="2G",
    show_default=True,
    metavar="SIZE",
    help="The approximate size of a unit, in bytes of files.",
)


class Units(NamedTuple):
    """How a command works by units.

    Attributes:
        work: The work folder.
        engine: What runs the units: "local" or "ray".
        address: The address of the cluster of Ray; `None` for the one that is there, or a new one.
        unit_bytes: About how many bytes of files a unit has.
        is_temporary: Whether the folder is of this command alone: it begins anew there if files have changed,
            and removes the folder in the end.
    """

    work: str
    engine: str
    address: str | None
    unit_bytes: int
    is_temporary: bool = False

    def plan(self, files: Sequence[str], reading: Reading) -> Plan:
        """Returns the plan of the files.

        Raises:
            UsageError: Standard input is among them.
            Exception: As `bytemill.jobs.plan`.
        """
        from bytemill import jobs

        if STANDARD_INPUT in files:
            raise click.UsageError("--work needs files: all processes read them")
        return jobs.plan(files, self.work, **reading._asdict(), unit_bytes=self.unit_bytes)

    @classmethod
    def beside(cls, output: Path) -> Units:
        """Returns the units of `train --resume`, in a folder beside the file that will be written."""
        return cls(os.fspath(output.with_name(f"{output.name}.counts")), "local", None, RESUMED_BYTES, True)  # noqa: FBT003 - a field

    def plan_counts(
        self, files: Sequence[str], reading: Reading, pattern: str | None, special_tokens: Sequence[str]
    ) -> Plan:
        """Returns the plan of files whose pieces will be counted.

        Raises:
            Exception: As `bytemill.jobs.count_pieces`.
        """
        from bytemill.jobs import counting

        try:
            return counting.begin(self.plan(files, reading), pattern, special_tokens)
        except ValueError:
            if not self.is_temporary or not (Path(self.work) / "plan.json").exists():
                raise
        self.remove()
        return counting.begin(self.plan(files, reading), pattern, special_tokens)

    def remove(self) -> None:
        """Removes the work folder if it is temporary."""
        if self.is_temporary:
            shutil.rmtree(self.work)

    def counts(
        self,
        plan: Plan,
        pattern: str | None,
        special_tokens: Sequence[str],
        *,
        executor: Executor,
    ) -> PieceCounts:
        """Counts the units of a plan, and shows progress.

        Raises:
            Exception: As `bytemill.jobs.count_pieces`.
        """
        from bytemill import jobs

        with showing(plan) as show:
            return jobs.count_pieces(
                plan,
                pattern,
                special_tokens=special_tokens,
                executor=executor,
                progress=show,
            )

    def train(
        self,
        plan: Plan,
        vocab_size: int,
        *,
        threads: int | None,
        memory: int | None,
        **options: Any,  # noqa: ANN401 - those of `bytemill.train`
    ) -> Encoding:
        """Learns from the counts of a plan on a node of Ray: the machine of the command may be a small one.

        Raises:
            Exception: As `bytemill.ray.train`.
        """
        import bytemill.ray

        return bytemill.ray.train(
            plan, vocab_size, num_cpus=threads or 1, memory=memory, address=self.address, **options
        )

    def executor(self, threads: int | None) -> Executor:
        """Returns what runs the units.

        Args:
            threads: On this machine, how many processes; on a cluster, the processors of each task. `None`
                for all processors, or for one.
        """
        if self.engine == "local":
            from bytemill import jobs

            return jobs.Local(threads)
        import bytemill.ray

        return bytemill.ray.Executor(num_cpus=threads or 1, address=self.address)


@contextmanager
def withdrawing() -> Iterator[None]:
    """Has SIGTERM end this process as ever, but first withdraw the attempts at units that it makes.

    So a command that is stopped, by its supervisor for example, is no death that its units are blamed for.
    """
    from bytemill.jobs.work import withdraw

    def end(number: int, _: object) -> None:
        withdraw()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    # Who calls the command as a function may have a use for the signal.
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def showing(plan: Plan) -> Iterator[Callable[[Progress], None]]:
    """Yields a function that shows on stderr, if that is a terminal, how far a job is.

    What was done before does not count as read. The body may be stopped, see `withdrawing`.
    """
    meter: Meter | None = None
    before = 0
    step = None
    with withdrawing(), ExitStack() as stack:

        def show(now: Progress) -> None:
            nonlocal meter, before, step
            if meter is None or now.step != step:
                stack.close()
                step, before = now.step, now.source_bytes
                meter = stack.enter_context(Meter((), size=sum(plan.sizes) - before))
            label = f"{LABELS[now.step]}, {now.done:,} of {now.units:,} done"
            if now.source_bytes:
                meter.at(label, now.source_bytes - before, text=now.text_bytes, tokens=now.tokens)
            else:
                meter.say(label)

        yield show


def units_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the argument `units`: `Units`, or `None` if the command works on all files as one."""

    @click.option(
        "--work",
        type=FileName(),
        metavar="FOLDER",
        help="Divide the files into units, and keep the plan and the results of finished units in this "
        "folder or URI. The same command resumes there.",
    )
    @click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="With --work, what runs the units: local for --threads processes of this machine, ray for tasks "
        "with --threads processors each.",
    )
    @click.option(
        "--address",
        metavar="ADDRESS",
        help="The address of a Ray cluster, such as auto [default: start one].",
    )
    @unit_bytes_option
    @functools.wraps(function)
    def with_units(
        *args: Any,  # noqa: ANN401
        work: str | None,
        engine: str,
        address: str | None,
        unit_bytes: int,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if work is None and engine != "local":
            raise click.UsageError(f"--engine {engine} needs --work FOLDER, which all machines share")
        if engine == "local" and address is not None:
            raise click.UsageError("--address is for --engine ray")
        units = None if work is None else Units(work, engine, address, unit_bytes)
        return function(*args, units=units, **options)

    return with_units
