"""From text to encodings that are SentencePiece models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill import _backend
from bytemill._arguments import integer, repeatable
from bytemill._messages import alternatives, closest
from bytemill.core import Encoding
from bytemill.documents.blocks import BatchReader
from bytemill.formats.sentencepiece_model import BPE, DEFAULT_RULES, definition_of
from bytemill.training.piece_options import DEFAULTS, NORMALIZER
from bytemill.training.sentencepiece import learn_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bytemill.documents import Document, Source
    from bytemill.documents.sources import Reading
    from bytemill.progress import Reporter

__all__ = ["learn_model"]


def learn_model(  # noqa: PLR0913 - all but the first four have names
    source: Source,
    vocab_size: int,
    options: Mapping[str, Any],
    reading: Reading,
    *,
    num_threads: int,
    name: str,
    reporter: Reporter,
) -> Encoding:
    """Learns a SentencePiece BPE model. Each line of a document is a sentence.

    Args:
        source: Same as in `train`.
        vocab_size: The number of pieces.
        options: SentencePiece's options of training by name, `normalization_rule_name` among them.
        reading: How files are read.
        num_threads: The maximum number of threads.
        name: The name of the encoding.
        reporter: Reports the progress.

    Raises:
        TypeError: There is no such option.
        ValueError: An option has no meaning, or the text does not have as many pieces as wanted.
    """
    given = repeatable(options)
    rules = given.pop("normalization_rule_name", DEFAULT_RULES)
    charsmap = _backend.charsmap_with_name(rules)
    if charsmap is None:
        raise ValueError(
            "expected normalization_rule_name to be identity, nfkc, nmt_nfkc, nfkc_cf or nmt_nfkc_cf, "
            f"got {rules!r}"
        )
    check_names(given)
    given["vocab_size"] = integer("vocab_size", vocab_size)
    # A file that is one document is read in parts, which begin with a line break: an empty sentence.
    reader = BatchReader(reading, pattern=None, special_tokens=("\n",))

    def texts() -> Iterator[list[Document]]:
        for batch in reader.read(source):
            yield batch.texts
            reporter.counted(batch.documents, batch.size)

    trained = learn_pieces(
        texts(),
        given,
        lines=True,
        charsmap=charsmap,
        num_threads=num_threads,
        report=reporter.merged,
    )
    reporter.finish()
    normalizer = {option: given.pop(option) for option in NORMALIZER if option in given}
    given.pop("seed", None)
    model = _backend.SentencePieceModel.build(
        trained.pieces,
        {**given, "model_type": BPE, "vocab_size": len(trained.pieces)},
        {"name": rules, "precompiled_charsmap": charsmap, **normalizer},
    )
    return Encoding.from_definition(definition_of(model.serialize(), name, "the trained model"))


def check_names(options: Mapping[str, Any]) -> None:
    """Raises `TypeError` for a name that is none of an option."""
    for name in options:
        if name not in DEFAULTS:
            known = closest(name, DEFAULTS)
            hint = f"; {alternatives(known)}?" if known else ""
            raise TypeError(f"train() has no option {name!r} for SentencePiece models{hint}")
