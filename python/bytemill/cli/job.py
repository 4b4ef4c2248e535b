"""`bytemill job`: files done by units, for schedulers that run a command for each number of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bytemill.cli import Group
from bytemill.cli.options import (
    FileName,
    encoding_option,
    expanded,
    json_option,
    print_record,
    source_options,
    special_option,
    special_rule,
    threads_option,
)
from bytemill.cli.shard import shard_options, shard_tokens_option, warn_of_missing_marks
from bytemill.cli.sizes import byte_size
from bytemill.cli.streams import prints_result
from bytemill.cli.train import DEFAULT_PATTERN, chosen_pattern
from bytemill.cli.units import showing, unit_size_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.cli.reading import Reading
    from bytemill.core import Encoding
    from bytemill.jobs import Plan, Status

work_option = click.option(
    "--work",
    required=True,
    type=FileName(),
    metavar="FOLDER",
    help="The work folder, which all processes and machines share, or its URI.",
)


unit_option = click.option(
    "--unit", type=click.IntRange(min=0), metavar="K", help="Do this unit only, from 0."
)

processes_option = click.option(
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes may do units; one for each processor if not given.",
)


@click.group(cls=Group)
def command() -> None:
    """Count files and encode them by units, which may run anywhere.

    They share a folder. A unit is done once and committed: what is killed is run again, and goes on with
    the units that are left. A scheduler of arrays runs `bytemill job count --unit K`, or `bytemill job
    shard --unit K`, for each of the units from 0 that `bytemill job plan` makes.
    """


@command.command("plan")
@click.argument("files", nargs=-1, required=True, callback=expanded, metavar="FILES...")
@work_option
@unit_size_option
@source_options
@json_option
def plan_command(*, files: Sequence[str], work: str, unit_size: int, reading: Reading, as_json: bool) -> None:
    """Divide files into units and store that in the work folder.

    FILES and the folder may be URIs, such as "s3://corpus/**/*.parquet".
    """
    from bytemill import jobs

    jobs.plan(files, work, **reading._asdict(), unit_bytes=unit_size)
    print_record(shown(jobs.status(work)), as_json=as_json)


@command.command("count")
@work_option
@unit_option
@click.option(
    "--pattern",
    default=DEFAULT_PATTERN,
    show_default=True,
    metavar="PATTERN",
    help="What cuts text into pieces: gpt2, cl100k, o200k, llama3, a regular expression, or none.",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="A special token, which cuts text; may be given several times.",
)
@click.option(
    "--memory-limit",
    callback=byte_size(),
    metavar="SIZE",
    help="How many bytes of memory the counts of a process may take, such as 2G; the rest goes to temporary "
    "files.",
)
@processes_option
@threads_option
@json_option
def count_command(  # noqa: PLR0913 - its options
    *,
    work: str,
    unit: int | None,
    pattern: str,
    special_tokens: Sequence[str],
    memory_limit: int | None,
    processes: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Count the units that are not yet counted, or one of them."""
    from bytemill import jobs
    from bytemill.jobs.counting import begin, count_left, count_unit

    check_workers(unit, processes, threads)
    plan = begin(plan_with(work, unit), chosen_pattern(pattern, None), special_tokens, memory_limit)
    if unit is None:
        with showing(plan) as show:
            count_left(plan, memory_limit, jobs.Local(processes), show)
    else:
        count_unit(work, unit, memory_limit=memory_limit, num_threads=threads)
    print_record(shown(jobs.status(plan)), as_json=as_json)


@command.command("shard")
@work_option
@unit_option
@encoding_option
@shard_options
@special_option
@processes_option
@threads_option
@json_option
def shard_command(  # noqa: PLR0913 - its options
    *,
    work: str,
    unit: int | None,
    encoding: Encoding,
    shard_tokens: int,
    special: str,
    processes: int | None,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `write_shards` knows by the same names
) -> None:
    """Write the shards of the units that are not yet written, or of one of them.

    What was written is in manifest.json in the work folder, as soon as all units are.
    """
    from bytemill import jobs
    from bytemill.jobs.tokenizing import EncodingValue, begin, shard_unit, write_left
    from bytemill.shards.options import format_named

    check_workers(unit, processes, threads)
    plan = plan_with(work, unit)
    begin(plan, encoding, shard_tokens=shard_tokens or None, **special_rule(special), **options)
    if unit is None:
        with showing(plan) as show:
            write_left(plan, encoding, jobs.Local(processes), show)
    else:
        shard_unit(work, unit, encoding=EncodingValue(encoding), num_threads=threads)
    status = jobs.status(plan)
    if status.written == len(plan.units):
        jobs.Manifest.finish(plan)
    has_ends = options["prepend"] or options["append"] or format_named(options["format"]).whole_documents
    if status.documents > 1 and not has_ends:
        warn_of_missing_marks(encoding, options["format"])
    print_record(shown(status), as_json=as_json)


def check_workers(unit: int | None, processes: int | None, threads: int | None) -> None:
    """Raises `UsageError` for options that exclude each other."""
    if unit is not None and processes is not None:
        raise click.UsageError("--unit is done by one process: leave out --processes")
    if unit is None and threads is not None:
        raise click.UsageError("--threads is for --unit; without it, --processes says how many work")


def plan_with(work: str, unit: int | None) -> Plan:
    """Returns the plan in a work folder; `ValueError` if it has no unit of this number."""
    from bytemill import jobs

    plan = jobs.Plan.load(work)
    if unit is not None:
        plan.unit(unit)
    return plan


@command.command("compact")
@work_option
@click.option("--shard", type=click.IntRange(min=0), metavar="K", help="Write this shard only, from 0.")
@shard_tokens_option
@processes_option
@json_option
def compact_command(
    *, work: str, shard: int | None, shard_tokens: int, processes: int | None, as_json: bool
) -> None:
    """Copy the shards of all units into few large ones, in the folder compacted of the work folder.

    What was written is in compacted/manifest.json, as soon as all shards are.
    """
    from bytemill import jobs
    from bytemill.jobs.compacting import begin, compact_left, compact_shard, finish

    if shard is not None and processes is not None:
        raise click.UsageError("--shard is written by one process: leave out --processes")
    plan, shards = begin(work, shard_tokens or None, shard)
    if shard is None:
        with showing(plan) as show:
            compact_left(plan, jobs.Local(processes), show)
    else:
        compact_shard(work, shard)
    done = jobs.status(plan).compacted
    if done == shards:
        finish(plan)
    print_record({"shards": shards, "compacted": done}, as_json=as_json)


@command.command("reduce")
@work_option
@click.option(
    "--part",
    type=click.IntRange(min=0),
    metavar="K",
    help="Add up this part only, from 0; `status` prints how many there are, once --part 0 is done.",
)
@click.option(
    "-o",
    "--output",
    type=FileName(),
    metavar="FILE",
    help="Write all counts to a file: a name that ends in .parquet, .arrow, .feather or .ipc.",
)
@processes_option
@json_option
def reduce_command(
    *, work: str, part: int | None, output: str | None, processes: int | None, as_json: bool
) -> None:
    """Add up the counts of all units, in parts that are sorted and follow each other.

    They are in the folder merged of the work folder. With --output, all of them are in one file, which
    `PieceCounts.load` reads.
    """
    from bytemill import jobs
    from bytemill.io.piece_table import check_table
    from bytemill.jobs.reducing import begin, merged, reduce_left, reduce_part

    if part is not None and (processes is not None or output is not None):
        raise click.UsageError("--part is done by one process: leave out --processes and --output")
    plan = jobs.Plan.load(work)
    if output is not None:
        check_table(output)
    if part is not None:
        begin(plan, part)
        reduce_part(work, part)
    else:
        with showing(plan) as show:
            reduce_left(plan, jobs.Local(processes), show)
    if output is None:
        print_record(shown(jobs.status(plan)), as_json=as_json)
        return
    counts = merged(plan)
    counts.save(output, sort=True)
    record = {"pieces": counts.total(), "different_pieces": len(counts), "files": [output]}
    print_record(record, as_json=as_json)


@command.command("status")
@work_option
@json_option
@prints_result
def status_command(*, work: str, as_json: bool) -> None:
    """Print how far a job is; the exit code is 1 if units are left."""
    from bytemill import jobs
    from bytemill.cli import NO

    found = jobs.status(work)
    print_record(shown(found), as_json=as_json)
    if not found.is_done:
        click.get_current_context().exit(NO)


def shown(status: Status) -> dict[str, object]:
    """Returns what to print of a status: what has begun."""
    left_out: set[str] = set()
    if status.counted is None:
        left_out |= {"counted", "counted_size", "pieces"}
    if status.parts is None:
        left_out |= {"parts", "merged"}
    if status.written is None:
        left_out |= {"written", "written_size", "documents", "tokens"}
    if status.compacted is None:
        left_out.add("compacted")
    return {name: value for name, value in status._asdict().items() if name not in left_out}
