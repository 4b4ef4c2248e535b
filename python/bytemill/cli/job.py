"""`bytemill job`: files processed unit by unit, for job arrays of schedulers such as Slurm."""

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
from bytemill.cli.output import prints_result
from bytemill.cli.shard import shard_options, shard_tokens_option, warn_of_missing_marks
from bytemill.cli.train import DEFAULT_PATTERN, chosen_pattern
from bytemill.cli.units import showing, unit_bytes_option, withdrawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading
    from bytemill.jobs import Plan, Status

work_option = click.option(
    "--work",
    required=True,
    type=FileName(),
    metavar="FOLDER",
    help="The work folder, which all processes and machines share; a path or a URI.",
)


unit_option = click.option(
    "--unit", type=click.IntRange(min=0), metavar="K", help="Do only this unit; the first is 0."
)

processes_option = click.option(
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of processes [default: one per processor].",
)


@click.group(cls=Group)
def job_command() -> None:
    """Count and tokenize a large corpus in parallel.

    `plan` divides the files into units, that is, pieces of work. All tasks share a work folder, and killed
    tasks can be rerun. In a Slurm array run `bytemill job count --unit K` or `bytemill job shard --unit K`.
    Without --unit, the processes of this machine do all units that are left.
    """


@job_command.command("plan")
@click.argument("files", nargs=-1, required=True, callback=expanded, metavar="FILES...")
@work_option
@unit_bytes_option
@source_options
@json_option
def plan_command(
    *, files: Sequence[str], work: str, unit_bytes: int, reading: Reading, as_json: bool
) -> None:
    """Divide files into units and store the plan in the work folder.

    FILES and the folder may be URIs, such as "s3://corpus/**/*.parquet".
    """
    from bytemill import jobs

    jobs.plan(files, work, **reading._asdict(), unit_bytes=unit_bytes)
    print_record(shown(jobs.status(work)), as_json=as_json)


@job_command.command("count")
@work_option
@unit_option
@click.option(
    "--pattern",
    default=DEFAULT_PATTERN,
    show_default=True,
    metavar="PATTERN",
    help="The split pattern: gpt2, cl100k, o200k, llama3, qwen2, a regular expression, or none.",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="A special token, which pieces never cross. Repeatable.",
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
    processes: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Count the pieces of all units that are left, or of one unit."""
    from bytemill import jobs
    from bytemill.jobs.counting import begin, count_left, count_unit

    check_workers(unit, processes, threads)
    plan = begin(plan_with(work, unit), chosen_pattern(pattern, None), special_tokens)
    if unit is None:
        with showing(plan) as show:
            count_left(plan, jobs.Local(processes), show)
    else:
        with withdrawing():
            count_unit(work, unit, num_threads=threads)
    print_record(shown(jobs.status(plan)), as_json=as_json)


@job_command.command("shard")
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
    shard_tokens: int | None,
    special: str,
    processes: int | None,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `write_shards` knows by the same names
) -> None:
    """Write the shards of all units that are left, or of one unit.

    When all units are written, manifest.json in the work folder records their files.
    """
    from bytemill import jobs
    from bytemill.jobs.tokenizing import EncodingValue, begin, shard_unit, write_left
    from bytemill.shards.options import format_named

    check_workers(unit, processes, threads)
    plan = plan_with(work, unit)
    begin(plan, encoding, shard_tokens=shard_tokens, **special_rule(special), **options)
    if unit is None:
        with showing(plan) as show:
            write_left(plan, encoding, jobs.Local(processes), show)
    else:
        with withdrawing():
            shard_unit(work, unit, encoding=EncodingValue(encoding), num_threads=threads)
    status = jobs.status(plan)
    if status.units_written == len(plan.units):
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


@job_command.command("compact")
@work_option
@click.option(
    "--shard", type=click.IntRange(min=0), metavar="K", help="Write only this shard; the first is 0."
)
@shard_tokens_option
@processes_option
@json_option
def compact_command(
    *, work: str, shard: int | None, shard_tokens: int | None, processes: int | None, as_json: bool
) -> None:
    """Copy the shards of all units into a few large ones.

    They are in the subfolder compacted of the work folder. When all are written, compacted/manifest.json
    records their files.
    """
    from bytemill import jobs
    from bytemill.jobs.compacting import begin, compact_left, compact_shard, finish
    from bytemill.jobs.work import FOLDERS, Work

    if shard is not None and processes is not None:
        raise click.UsageError("--shard is written by one process: leave out --processes")
    plan, shards = begin(work, shard_tokens, shard)
    if shard is None:
        with showing(plan) as show:
            compact_left(plan, jobs.Local(processes), show)
    else:
        with withdrawing():
            compact_shard(work, shard)
    done = jobs.status(plan).shards_compacted
    if done == shards:
        finish(plan)
    record = {
        "shards": shards,
        "shards_written": done,
        "directory": Work(plan.work).store.path(FOLDERS["compact"]),
    }
    print_record(record, as_json=as_json)


@job_command.command("reduce")
@work_option
@click.option(
    "--part",
    type=click.IntRange(min=0),
    metavar="K",
    help="Add up only this part; the first is 0. `status` prints how many there are, once part 0 is done.",
)
@click.option(
    "-o",
    "--output",
    type=FileName(),
    metavar="FILE",
    help="Also write all counts to a file that ends in .parquet, .arrow, .feather or .ipc.",
)
@processes_option
@json_option
def reduce_command(
    *, work: str, part: int | None, output: str | None, processes: int | None, as_json: bool
) -> None:
    """Add up the counts of all units.

    The sums are sorted parts in the subfolder merged of the work folder. With --output they are also written
    to one file, which `PieceCounts.load` reads.
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
        with withdrawing():
            reduce_part(work, part)
    else:
        with showing(plan) as show:
            reduce_left(plan, jobs.Local(processes), show)
    if output is None:
        print_record(shown(jobs.status(plan)), as_json=as_json)
        return
    counts = merged(plan)
    counts.save(output, sort=True)
    record = {"pieces": counts.total(), "distinct_pieces": len(counts), "files": [output]}
    print_record(record, as_json=as_json)


@job_command.command("status")
@work_option
@json_option
@prints_result
def status_command(*, work: str, as_json: bool) -> None:
    """Print the progress of a job; exit with 1 if units are left."""
    from bytemill import jobs
    from bytemill.cli import NO

    found = jobs.status(work)
    print_record(shown(found), as_json=as_json)
    if not found.is_done:
        click.get_current_context().exit(NO)


def shown(status: Status) -> dict[str, object]:
    """Returns what to print of a status: what has begun."""
    left_out: set[str] = set()
    if status.units_counted is None:
        left_out |= {"units_counted", "source_bytes_counted", "pieces"}
    if status.parts is None:
        left_out |= {"parts", "parts_merged"}
    if status.units_written is None:
        left_out |= {"units_written", "source_bytes_written", "documents", "tokens"}
    if status.shards_compacted is None:
        left_out.add("shards_compacted")
    return {name: value for name, value in status._asdict().items() if name not in left_out}
