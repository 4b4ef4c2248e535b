"""`bytemill list`: the names of encodings and models."""

from __future__ import annotations

import json

import click

from bytemill.cli.options import json_option
from bytemill.cli.streams import prints_result
from bytemill.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from bytemill.registry import list_encoding_names

__all__ = ["command"]


@click.command
@click.argument("what", type=click.Choice(["encodings", "models"]), required=False)
@json_option
@prints_result
def command(*, what: str | None, as_json: bool) -> None:
    """List the names of encodings, and of the models that use them.

    A name that ends in * stands for all models whose names begin with it.
    """
    names = list_encoding_names()
    families = {f"{prefix}*": encoding for prefix, encoding in MODEL_PREFIX_TO_ENCODING.items()}
    models = MODEL_TO_ENCODING | families
    if as_json:
        record = {"encodings": names, "models": models}
        click.echo(json.dumps(record if what is None else record[what]))
    elif what == "encodings":
        click.echo("\n".join(names))
    elif what == "models":
        width = max(map(len, models))
        click.echo("\n".join(f"{model:<{width}}  {encoding}" for model, encoding in models.items()))
    else:
        width = max(map(len, names))
        for name in names:
            used = [model for model, encoding in models.items() if encoding == name]
            click.echo(f"{name:<{width}}  {', '.join(used)}".rstrip())
