"""The trainers that are compared; `suites/training.toml` names our counterpart with the same vocabulary.

Only installed trainers are compared. Each gets the same documents as an iterator of strings, except
gigatoken, gigabpe and sentencepiece, which read files; gigatoken gets the documents with a separator between
them, and gigabpe splits each line by itself.
Patterns are in the spelling that is fastest for each engine; if an engine has only its own, this library is
trained with that.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from harness.suites import suite

SUITE = suite("training")
OURS = "bytemill"

# Between the documents of gigatoken's files.
SEPARATOR = "<|endoftext|>"

DOCUMENT_CHARACTERS = 1 << 14

# The end of a name of a pattern: each line of the text is a document.
BY_LINE = " by line"


class Trainer(NamedTuple):
    """One way of training.

    Attributes:
        distribution: Name under which it is installed.
        module: What is to be imported, which takes none of its time.
        pattern: What it splits by: "cl100k", "gpt2", "gpt2 by line" if each line is a document, or
            "sentencepiece" for a model of that kind.
        tie_break: Our tie-breaker that learns the same merges.
        work: Trains on a file to a vocabulary size with a number of threads, and returns what was trained.
            Engines without a parameter for threads follow RAYON_NUM_THREADS.
        tokens: Returns the tokens of that in the order of their ids.
    """

    distribution: str
    module: str
    pattern: str
    tie_break: str
    work: Callable[[Path, int, int], Any]
    tokens: Callable[[Any], Sequence[bytes]] = list

    @property
    def counterpart(self) -> str:
        """Name of our trainer with the same vocabulary."""
        return f"{OURS}, {self.pattern}, {self.tie_break}"


def documents(path: Path) -> Iterator[str]:
    """Yields the documents of a text file: whole lines, about 16,384 characters."""
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


def lines(path: Path) -> Iterator[str]:
    """Yields the lines of a text file, each with its end."""
    for document in documents(path):
        yield from re.findall(r"[^\n]*\n|[^\n]+", document)


def in_order(ranks: dict[bytes, int]) -> list[bytes]:
    """Returns tokens in the order of their ids."""
    return sorted(ranks, key=ranks.__getitem__)


def ours(pattern: str, tie_break: Any) -> Callable[[Path, int, int], Sequence[bytes]]:
    """Returns this library with a pattern and a tie-breaker."""
    name, by_line = pattern.removesuffix(BY_LINE), pattern.endswith(BY_LINE)

    def work(path: Path, vocab_size: int, threads: int) -> list[bytes]:
        from bytemill import train

        encoding = train(
            lines(path) if by_line else documents(path),
            vocab_size,
            pattern=name,
            tie_break=tie_break,
            num_threads=threads,
            progress=False,
        )
        # In the order of their ranks.
        return list(encoding._mergeable_ranks)

    return work


def with_definition(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """The pure-Python reference, on one long text."""
    from bytemill.patterns import CL100K_PATTERN
    from bytemill.reference import ranks_of_merges, train

    text = "".join(documents(path))
    merges = train(text, vocab_size, pattern=CL100K_PATTERN, tie_break="smallest_pair")
    return in_order(ranks_of_merges(merges))


def with_rustbpe(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """The trainer of nanochat."""
    from bytemill.patterns import MINBPE_GPT4_PATTERN

    tokenizer = import_module("rustbpe").Tokenizer()
    tokenizer.train_from_iterator(documents(path), vocab_size, pattern=MINBPE_GPT4_PATTERN)
    return [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()]


def with_tokenizers(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """Hugging Face's byte-level BPE."""
    from bytemill.formats.data_gym import token_bytes
    from bytemill.patterns import MINBPE_GPT4_PATTERN

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
    """A byte-level trainer of tiktoken vocabularies."""
    from bytemill.patterns import MINBPE_GPT4_PATTERN

    ranks: dict[bytes, int] = import_module("bpeasy").train_bpe(
        documents(path), MINBPE_GPT4_PATTERN, 1 << 30, vocab_size
    )
    return in_order(ranks)


def with_ffbpe(path: Path, vocab_size: int, _threads: int) -> list[bytes]:
    """Counting and merging, each with its own class."""
    from bytemill.patterns import CL100K_PATTERN

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
    """It has a single pattern, and reads files itself."""
    module = import_module("gigatoken")
    source = module.TextFileSource([separated(path)], separator=SEPARATOR)
    vocabulary: dict[int, bytes] = module.train_bpe(source, vocab_size, [], tie_breaking="huggingface")[0]
    return [vocabulary[token] for token in sorted(vocabulary)]


def with_gigabpe(path: Path, vocab_size: int, threads: int) -> list[bytes]:
    """Its first tokens are the bytes of the text, not all 256, and it has as many more merges: left out."""
    from bytemill.formats.data_gym import token_bytes

    vocabulary: dict[str, int] = import_module("gigabpe").train_bpe(
        [str(path)], vocab_size=vocab_size, pretokenizer="bytelevel", threads=threads
    )[0]
    tokens = map(token_bytes, sorted(vocabulary, key=vocabulary.__getitem__))
    return [token for token in tokens if len(token) > 1][: vocab_size - 256]


def sentencepiece(module: str) -> Callable[[Path, int, int], bytes]:
    """Returns SentencePiece BPE with byte fallback, by a module with its interface: the bytes of a model."""

    def work(path: Path, vocab_size: int, threads: int) -> bytes:
        model = io.BytesIO()
        import_module(module).SentencePieceTrainer.train(
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
        return model.getvalue()

    return work


def pieces_of(model: bytes) -> list[bytes]:
    """Returns the pieces of a SentencePiece model."""
    processor = import_module("bytemill.sentencepiece").SentencePieceProcessor(model_proto=model)
    pieces = (processor.id_to_piece(token) for token in range(processor.get_piece_size()))
    return [piece.replace("\u2581", " ").encode() for piece in pieces]


def separated(path: Path) -> Path:
    """Returns the path of the documents of a file with separators between them."""
    return path.with_suffix(".separated.txt")


def write_separated(path: Path) -> None:
    """Writes that file."""
    with separated(path).open("w", encoding="utf-8", newline="") as file:
        for i, document in enumerate(documents(path)):
            file.write(SEPARATOR * (i > 0) + document)


OTHERS: dict[str, Callable[[Path, int, int], Any]] = {
    "reference": with_definition,
    "rustbpe": with_rustbpe,
    "tokenizers": with_tokenizers,
    "gigatoken": with_gigatoken,
    "gigabpe": with_gigabpe,
    "bpeasy": with_bpeasy,
    "ffbpe": with_ffbpe,
    "sentencepiece": sentencepiece("sentencepiece"),
    "bytemill, sentencepiece, score": sentencepiece("bytemill.sentencepiece"),
}


OUR_MODULES = {
    "reference": "bytemill.reference",
    "bytemill, sentencepiece, score": "bytemill.sentencepiece",
}


def trainer(name: str, pattern: str, tie_break: str) -> Trainer:
    """Returns a trainer of the suite."""
    distribution = OURS if name == "reference" or name.startswith(OURS) else name
    module = OUR_MODULES.get(name, "bytemill.training.learning" if distribution == OURS else name)
    work = OTHERS.get(name) or ours(pattern, tie_break)
    tokens = pieces_of if pattern == "sentencepiece" else list
    return Trainer(distribution, module, pattern, tie_break, work, tokens)


TRAINERS: dict[str, Trainer] = {name: trainer(name, **each) for name, each in SUITE["trainers"].items()}
