"""The trainers that are compared: how each is called, and which of our own ways gives the same vocabulary.

Only what is installed is compared. Each is given the same documents as an iterator of strings, but for
gigatoken and sentencepiece, which read files. gigatoken gets the documents with a separator between them.
Patterns are spelt as each engine has them fastest; where they cannot be given, this library is trained with
the engine's own for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from bytemill import train
from bytemill.formats.data_gym import token_bytes
from bytemill.patterns import CL100K_PATTERN, MINBPE_GPT4_PATTERN
from bytemill.reference import ranks_of_merges
from bytemill.reference import train as train_by_definition

OURS = "bytemill"
FASTEST = f"{OURS}, cl100k, smallest_pair"

# Between the documents of gigatoken's files.
SEPARATOR = "<|endoftext|>"

DOCUMENT_CHARACTERS = 1 << 14


class Trainer(NamedTuple):
    """One way of training.

    Attributes:
        distribution: The name under which it is installed.
        pattern: What it splits by: "cl100k", "gpt2", or "its own".
        tie_break: The rule of ours that gives the same merges; empty if none does.
        work: Takes a file, the size of the vocabulary and the number of threads to the tokens, in order of
            their ids. Engines that cannot be told take as many threads as RAYON_NUM_THREADS says.
    """

    distribution: str
    pattern: str
    tie_break: str
    work: Callable[[Path, int, int], Sequence[bytes]]

    @property
    def counterpart(self) -> str:
        """Which of our own ways gives the same vocabulary; the usual one if none does."""
        return our_name(self.pattern, self.tie_break) if self.tie_break else FASTEST


def our_name(pattern: str, tie_break: str) -> str:
    """What one of our own ways is called."""
    return f"{OURS}, {pattern}, {tie_break}"


def documents(path: Path) -> Iterator[str]:
    """The documents of a text file: whole lines, 16,384 characters or a little more or less."""
    rest = ""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        while block := file.read(DOCUMENT_CHARACTERS):
            text = rest + block
            end = text.rfind("\n") + 1
            if end:
                yield text[:end]
            rest = text[end:]
    if rest:
        yield rest


def in_order(ranks: dict[bytes, int]) -> list[bytes]:
    """Tokens in the order of their ids."""
    return sorted(ranks, key=ranks.__getitem__)


def ours(pattern: str, tie_break: Any) -> Trainer:
    """This library."""

    def work(path: Path, vocab_size: int, threads: int) -> list[bytes]:
        encoding = train(
            documents(path),
            vocab_size,
            pattern=pattern,
            tie_break=tie_break,
            num_threads=threads,
            progress=False,
        )
        # In the order of their ranks.
        return list(encoding._mergeable_ranks)

    return Trainer(OURS, pattern, tie_break, work)


def with_definition(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """The pure-Python reference, on one long text."""
    text = "".join(documents(path))
    merges = train_by_definition(text, vocab_size, pattern=CL100K_PATTERN, tie_break="smallest_pair")
    return in_order(ranks_of_merges(merges))


def with_rustbpe(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """The trainer of nanochat."""
    tokenizer = import_module("rustbpe").Tokenizer()
    tokenizer.train_from_iterator(documents(path), vocab_size, pattern=MINBPE_GPT4_PATTERN)
    return [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()]


def with_tokenizers(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """Hugging Face's byte-level BPE."""
    module = import_module("tokenizers")
    tokenizer = module.Tokenizer(module.models.BPE())
    split = module.pre_tokenizers.Split(module.Regex(MINBPE_GPT4_PATTERN), "isolated")
    byte_level = module.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = module.pre_tokenizers.Sequence([split, byte_level])
    trainer = module.trainers.BpeTrainer(
        vocab_size=vocab_size,
        show_progress=False,
        initial_alphabet=module.pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(documents(path), trainer)
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return [token_bytes(token) for token in sorted(vocabulary, key=vocabulary.__getitem__)]


def with_bpeasy(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """A byte-level trainer that gives tiktoken's vocabularies."""
    ranks: dict[bytes, int] = import_module("bpeasy").train_bpe(
        documents(path), MINBPE_GPT4_PATTERN, 1 << 30, vocab_size
    )
    return in_order(ranks)


def with_ffbpe(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """Counting and merging, each with its own class."""
    module = import_module("ffbpe")
    counter = module.PreTokenizer([], pat_str=CL100K_PATTERN).word_counter()
    counter.add_source(documents(path))
    trainer = module.BpeTrainer([], initial_alphabet="raw", tie_break="smallest_pair_id")
    trainer.add_word_counter(counter)
    trainer.init_training()
    trainer.train(vocab_size)
    vocabulary: dict[bytes, int] = trainer.validate_model().vocab
    return in_order(vocabulary)


def with_gigatoken(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """It has one pattern, and reads files itself."""
    module = import_module("gigatoken")
    source = module.TextFileSource([separated(path)], separator=SEPARATOR)
    vocabulary: dict[int, bytes] = module.train_bpe(source, vocab_size, [], tie_breaking="huggingface")[0]
    return [vocabulary[token] for token in sorted(vocabulary)]


def with_sentencepiece(path: Path, vocab_size: int, threads: int) -> list[bytes]:
    """BPE with byte fallback: not the same model, but what many train."""
    import io

    model = io.BytesIO()
    module = import_module("sentencepiece")
    module.SentencePieceTrainer.train(
        input=str(path),
        model_writer=model,
        model_type="bpe",
        vocab_size=vocab_size,
        byte_fallback=True,
        character_coverage=0.9995,
        normalization_rule_name="identity",
        max_sentence_length=1 << 20,
        num_threads=threads,
        minloglevel=2,
    )
    processor = module.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = (processor.id_to_piece(token) for token in range(processor.get_piece_size()))
    return [piece.replace("\u2581", " ").encode() for piece in pieces]


def separated(path: Path) -> Path:
    """Where the documents of a file are with separators between them."""
    return path.with_suffix(".separated.txt")


def write_separated(path: Path) -> None:
    """Writes that file."""
    with separated(path).open("w", encoding="utf-8", newline="") as file:
        for i, document in enumerate(documents(path)):
            file.write(SEPARATOR * (i > 0) + document)


TRAINERS: dict[str, Trainer] = {
    **{
        our_name(pattern, tie_break): ours(pattern, tie_break)
        for pattern, tie_break in (
            ("cl100k", "smallest_pair"),
            ("cl100k", "huggingface"),
            ("gpt2", "huggingface"),
        )
    },
    "reference": Trainer(OURS, "cl100k", "smallest_pair", with_definition),
    "rustbpe": Trainer("rustbpe", "cl100k", "smallest_pair", with_rustbpe),
    "tokenizers": Trainer("tokenizers", "cl100k", "huggingface", with_tokenizers),
    "gigatoken": Trainer("gigatoken", "gpt2", "huggingface", with_gigatoken),
    "bpeasy": Trainer("bpeasy", "cl100k", "smallest_pair", with_bpeasy),
    "ffbpe": Trainer("ffbpe", "cl100k", "smallest_pair", with_ffbpe),
    "sentencepiece": Trainer("sentencepiece", "its own", "", with_sentencepiece),
}


def installed(trainer: Trainer) -> str | None:
    """The version of a trainer, or None if it is not installed."""
    try:
        return version(trainer.distribution)
    except PackageNotFoundError:
        return None
