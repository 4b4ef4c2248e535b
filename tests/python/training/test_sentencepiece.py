import importlib
import random
import re
from typing import Any

import pytest

from bytemill.training.sentencepiece import TrainedPieces, learn_pieces, sentence_batches
from support.piece_training import (
    random_options,
    random_sentences,
    trained_by_sentencepiece,
    with_counts,
)

pytest.importorskip("sentencepiece")

# Numbers in messages that SentencePiece computes from the text.
COMPUTED = re.compile(r"too high \(.*|smaller than required_chars\. .*|must be larger than the number .*")


def learned(sentences: list[str], options: dict[str, Any], **more: Any) -> TrainedPieces:
    return learn_pieces(sentence_batches(sentences), options, lines=False, **more)


def pieces_of(model: bytes) -> list[tuple[str, str, int]]:
    messages: Any = importlib.import_module("sentencepiece.sentencepiece_model_pb2")
    pieces = messages.ModelProto.FromString(model).pieces
    # As text, -0.0 differs from 0.0.
    return [(piece.piece, str(piece.score), piece.type) for piece in pieces]


def compare(sentences: list[str], options: dict[str, Any]) -> bool:
    """Whether the real package learns a model; asserts that ours is the same, or that both refuse alike."""
    try:
        expected = pieces_of(trained_by_sentencepiece(sentences, options))
    except RuntimeError as error:
        message = str(error)
    else:
        pieces = [(piece, str(score), kind) for piece, score, kind in learned(sentences, options).pieces]
        assert pieces == expected, (options, sentences)
        return True
    with pytest.raises(ValueError, match=r".") as refusal:
        learned(sentences, options)
    assert COMPUTED.findall(str(refusal.value)) == COMPUTED.findall(message), (options, sentences)
    return False


@pytest.mark.parametrize("part", range(8))
def test_random_options_learn_the_pieces_of_sentencepiece(part: int) -> None:
    learns = 0
    for seed in range(60):
        choice = random.Random(f"{part} {seed}")  # noqa: S311 - no secret
        sentences, options = random_sentences(choice), random_options(choice)
        if choice.random() < 0.15:
            sentences, options["input_format"] = with_counts(choice, sentences), "tsv"
        learns += compare(sentences, options)
    assert learns > 20
