"""Any argument of a public function results in a value or an ordinary error: no panic, crash or hang.

The names are discovered, not listed: every function, class and method of the package. Each is called as
intended, which must succeed, and then with every wrong value in every argument. So a new name is
tested too; if it has a parameter that `GOOD` does not know, the test fails with its name.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import importlib
import inspect
import itertools
import os
import pkgutil
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
import tiktoken
from tokenizers import Tokenizer, models

import bytemill
from bytemill import _core, hf, inspection, jobs, minbpe, ray, sentencepiece, shards, spark  # noqa: TID251 - what is behind the package is tried too
from bytemill.formats.huggingface import format_tokenizer
from bytemill.patterns import GPT2_PATTERN
from bytemill.training.learning import learn_merges
from support.fake_engines import Dataset, Frame, fake_engines
from support.open_models import file_of
from support.toys import BYTE_RANKS
from support.wrong_values import WRONG

# Public modules. The others are called by the package itself, with checked arguments.
PUBLIC = [
    "bytemill",
    "bytemill.chat",
    "bytemill.errors",
    "bytemill.hf",
    "bytemill.load",
    "bytemill.inspection",
    "bytemill.jobs",
    "bytemill.minbpe",
    "bytemill.minbpe.base",
    "bytemill.minbpe.basic",
    "bytemill.minbpe.gpt4",
    "bytemill.minbpe.regex",
    "bytemill.model",
    "bytemill.ray",
    "bytemill.registry",
    "bytemill.sentencepiece",
    "bytemill.shards",
    "bytemill.spark",
    "bytemill.training",
]
# Public too; what they have is not called with wrong arguments here: that of `serve` is called by servers.
UNTRIED = ["bytemill.playground", "bytemill.serve"]
INNER = [
    "__main__",
    "_arguments",
    "_backend",
    "_calls",
    "_core",
    "_educational",
    "_messages",
    "_named",
    "builtin",
    "cli",
    "continuation",
    "core",
    "definition",
    "documents",
    "explanation",
    "fingerprint",
    "formats",
    "io",
    "patching",
    "patterns",
    "progress",
    "reference",
    "reference_sentencepiece",
    "results",
    "sessions",
    "special",
    "source",
    "splitting",
    "streaming",
]

# Allowed exceptions; the library's own errors are derived from these. An unknown error handler for invalid
# UTF-8 is a `LookupError`, a non-contiguous buffer for `hashlib` a `BufferError`.
ORDINARY = (
    AssertionError,
    BufferError,
    LookupError,
    MemoryError,
    OSError,
    OverflowError,
    TypeError,
    ValueError,
)

# As those of the original minbpe; and what only SentencePiece itself can do.
NOT_IMPLEMENTED = {
    "ConvertToFlatbuffer",
    "GPT4Tokenizer.load",
    "GPT4Tokenizer.save",
    "GPT4Tokenizer.train",
    "SetDataDir",
    "Tokenizer.decode",
    "Tokenizer.encode",
    "Tokenizer.train",
}

# As those of the original SentencePiece where a model cannot be read, or something is not offered.
RUNTIME_ERRORS = ("SentencePieceNormalizer", "SentencePieceProcessor", "SentencePieceTrainer")
NOT_OFFERED = ("nbest", "sample", "NBest", "Sample")

# Output files, each with another name.
NUMBERS = itertools.count()

RANKS = BYTE_RANKS | {b"ab": 256, b"abc": 257}


def toy() -> bytemill.Encoding:
    return bytemill.Encoding("toy", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens={"<|a|>": 300})


def gpt2() -> bytemill.Encoding:
    return bytemill.Encoding("toy", pat_str=GPT2_PATTERN, mergeable_ranks=RANKS, special_tokens={})


def tiktoken_toy() -> tiktoken.Encoding:
    return tiktoken.Encoding("toy", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens={})


def huggingface_toy() -> Tokenizer:
    encoding = bytemill.Encoding("toy", pat_str=GPT2_PATTERN, mergeable_ranks=RANKS, special_tokens={})
    return Tokenizer.from_str(format_tokenizer(encoding.definition).decode())


def transformers_toy() -> Any:
    """Returns a tokenizer of `transformers`, whose import takes a second."""
    transformers: Any = importlib.import_module("transformers")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=huggingface_toy())


def trained(kind: type[Any]) -> Any:
    tokenizer = kind()
    tokenizer.train("abab", 257)
    return tokenizer


@functools.cache
def gpt4() -> minbpe.GPT4Tokenizer:
    """Returns values that are slow to build."""
    return minbpe.GPT4Tokenizer()


def text_stream() -> _core.TextStream:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0}, merges=[]))
    stream = bytemill.Encoding.from_huggingface(tokenizer, name="toy")._core_bpe.text_stream()
    assert stream is not None
    return stream


def sentencepiece_model() -> _core.SentencePieceModel:
    pieces = [
        ("<unk>", 0.0, 2),
        ("<s>", 0.0, 3),
        ("</s>", 0.0, 3),
        ("l", -2.0, 1),
        ("o", -3.0, 1),
        ("lo", -1.0, 1),
    ]
    return _core.SentencePieceModel.build(pieces, {"model_type": 2}, {})


# Factories of instances whose parameters are not enough.
INSTANCES: dict[str, Callable[[], Any]] = {
    "CoreBPE": lambda: toy()._core_bpe,
    "SentenceCounts": lambda: _core.SentenceCounts({}, {}, protected=[], seed=0, is_measured=False),
    "CorePrefixCache": lambda: _core.CorePrefixCache(10_000, 0),
    "PrefixCache": lambda: bytemill.PrefixCache(10_000),
    "Ragged": lambda: toy().encode_batch_to_numpy(["abc", "a"]),
    "PrefixCacheStats": lambda: bytemill.PrefixCache(10_000).stats(),
    "CoreSession": lambda: toy()._core_bpe.session(None, set()),
    "CoreStreamEncoder": lambda: toy()._core_bpe.stream_encoder(None, set()),
    "Session": lambda: toy().session("abc", allowed_special="all"),
    "StreamEncoder": lambda: toy().stream_encoder(allowed_special="all"),
    "StreamDecoder": lambda: toy().stream_decoder(),
    "Update": lambda: toy().session().append("abc"),
    "TextStream": text_stream,
    "EncodedColumn": lambda: toy().encode_arrow(pa.array(["a", None])),
    "Splitter": lambda: _core.Splitter(r"\w+|\W+"),
    "Normalizer": lambda: _core.Normalizer(b""),
    "NormalizerChain": lambda: _core.NormalizerChain(b'{"type": "NFC"}'),
    "SentencePieceModel": sentencepiece_model,
    "SentencePieceNormalizer": lambda: sentencepiece.SentencePieceNormalizer(rule_name="nfkc"),
    "SentencePieceProcessor": lambda: sentencepiece.SentencePieceProcessor(
        model_proto=sentencepiece_model().serialize()
    ),
    "Definition": lambda: toy().definition,
    "Encoding": toy,
    "PieceCounts": lambda: bytemill.PieceCounts({b"ab": 3, b"abc": 2}, pattern="gpt2"),
    "LearnedMerges": lambda: learn_merges(INSTANCES["PieceCounts"](), 1, tie_break="smallest_pair"),
    "BasicTokenizer": lambda: trained(minbpe.BasicTokenizer),
    "RegexTokenizer": lambda: trained(minbpe.RegexTokenizer),
    "GPT4Tokenizer": lambda: copy.copy(gpt4()),
    "EncodedWithOffsets": lambda: toy().encode_with_offsets("abc"),
    "Candidate": lambda: bytemill.Candidate(0, b"a", 1, -1.0),
    "PieceExplanation": lambda: toy().explain("abc")[0],
    "Provenance": lambda: shards.write_shards(["abc"], f"folder{next(NUMBERS)}", toy()),
    "Comparison": lambda: inspection.compare({"toy": toy()}, {"a": ["ab"]}),
    "MergeView": lambda: inspection.show_merges(toy(), "abc"),
    "PairView": lambda: inspection.show_both(toy(), toy(), "abc"),
    "TrainingView": lambda: inspection.show_training("abab", 2),
    "TokenList": lambda: inspection.list_tokens(toy(), 97, 99),
    "TokenReport": lambda: inspection.report_token(toy(), 256),
    "TokenView": lambda: inspection.show(toy(), "abc"),
    "VocabularyReport": lambda: inspection.report(toy()),
    "jobs.Plan": lambda: jobs.Plan.load("job"),
    "jobs.Manifest": lambda: jobs.Manifest.load("job"),
    "hf.Tokenizer": lambda: hf.Tokenizer.from_str(huggingface_toy().to_str()),
    "hf.Encoded": lambda: INSTANCES["hf.Tokenizer"]().encode("abc", "ab"),
}


def sorted_counts() -> list[str]:
    """Returns the name of a file of sorted counts."""
    bytemill.PieceCounts({b"a": 1}).save("sorted.arrow", sort=True)
    return ["sorted.arrow"]


# Valid arguments by the name of the parameter, or of callable and parameter if that is ambiguous.
GOOD: dict[str, Callable[[], Any]] = {
    "add_bos": lambda: False,
    "add_eos": lambda: False,
    "add_dummy_prefix": lambda: True,
    "alpha": lambda: 0.1,
    **dict.fromkeys(
        ("SentencePieceTrainer.train.arg", "SentencePieceTrainer.Train.arg"),
        lambda: f"--input=sentences --model_prefix=m{next(NUMBERS)} --model_type=bpe --vocab_size=15",
    ),
    "chunk_len": lambda: 10,
    "emit_unk_piece": lambda: False,
    "enable_sampling": lambda: False,
    "escape_whitespaces": lambda: True,
    "filename": lambda: "read.sp.model",
    "id": lambda: 3,
    "input": lambda: "lo",
    "level": lambda: 0,
    "logstream": lambda: None,
    "model_proto": lambda: sentencepiece_model().serialize(),
    "nbest_size": lambda: 0,
    "norm_map": lambda: None,
    "normalizer_spec": lambda: None,
    "out_type": lambda: None,
    "piece": lambda: "lo",
    "remove_extra_whitespaces": lambda: True,
    "return_bytes": lambda: None,
    "return_type": lambda: None,
    "reverse": lambda: False,
    "rule_name": lambda: "nfkc",
    "rule_tsv": lambda: None,
    "seed": lambda: 1,
    "seconds": lambda: 1,
    "data_dir": lambda: ".",
    "vocab": lambda: None,
    "form": lambda: None,
    "serialized": lambda: sentencepiece_model().serialize(),
    "thread_pool": lambda: None,
    "with_offsets": lambda: False,
    "SentencePieceNormalizer.model_file": lambda: None,
    "SentencePieceNormalizer.model_proto": lambda: None,
    "SentencePieceProcessor.model_file": lambda: None,
    "SentencePieceProcessor.load.model_file": lambda: None,
    "SentencePieceProcessor.Load.model_file": lambda: None,
    "SentencePieceProcessor.from_file.model_file": lambda: "read.sp.model",
    **dict.fromkeys(
        (
            f"SentencePieceProcessor.{name}.input"
            for name in (
                "decode",
                "decode_ids",
                "decode_ids_as_proto",
                "detokenize",
                "Decode",
                "DecodeIds",
                "DecodeIdsAsProto",
                "Detokenize",
            )
        ),
        lambda: [3, 4],
    ),
    **dict.fromkeys(
        (
            f"SentencePieceProcessor.{name}.input"
            for name in ("decode_pieces", "decode_pieces_as_proto", "DecodePieces", "DecodePiecesAsProto")
        ),
        lambda: ["l", "o"],
    ),
    "allowed_special": lambda: {"<|a|>"},
    "add_special_tokens": lambda: False,
    "append": lambda: [5],
    "batch": lambda: [[1, 2], [3]],
    "batch_size": lambda: 2,
    "blobpath": lambda: "toy.tiktoken",
    "bpe_ranks": lambda: dict(RANKS),
    "bytes_per_process": lambda: 1 << 40,
    "bytes_per_thread": lambda: 1 << 20,
    "clobber_one_byte_tokens": lambda: True,
    "colour": lambda: True,
    "column": lambda: pa.array(["a", None]),
    "contents": lambda: INSTANCES["Provenance"]().to_json(),
    "Encoding.from_bytes.contents": lambda: huggingface_toy().to_str().encode(),
    "fit_messages.count": lambda: len,
    "data": lambda: b"abc",
    "counts": dict,
    "definition": lambda: toy().definition,
    "directory": lambda: f"folder{next(NUMBERS)}",
    "disallowed_special": lambda: (),
    "dtype": lambda: "uint32",
    "encoder_json_file": lambda: "encoder.json",
    "encoder_json_hash": lambda: None,
    "encoding": toy,
    "encoding_name": lambda: "gpt2",
    "encodings": lambda: {"toy": toy()},
    "from_tiktoken.encoding": tiktoken_toy,
    "Encoding.from_tiktoken.encoding": tiktoken_toy,
    "Encoding.from_huggingface.tokenizer": huggingface_toy,
    "errors": lambda: "replace",
    "write_shards.errors": lambda: "replace",
    "expected_hash": lambda: None,
    "explicit_n_vocab": lambda: None,
    "field": lambda: "text",
    "file_names": lambda: ("vocab.bpe", "encoder.json"),
    "file_prefix": lambda: f"mine{next(NUMBERS)}",
    "format": lambda: "bin",
    "ids": lambda: [97, 98],
    "idx": lambda: 256,
    "mergeable_ranks": lambda: dict(RANKS),
    "initial": lambda: None,
    "limit": lambda: 3,
    "fit_messages.limit": lambda: 1_000,
    "list_tokens.first": lambda: 97,
    "list_tokens.last": lambda: 99,
    "messages": lambda: [{"role": "user", "content": "abc"}],
    "model": lambda: "gpt-4o",
    "tokens_per_image": lambda: 85,
    # With a field there are no lines of text.
    "lines": lambda: False,
    "max_token_length": lambda: 3,
    "max_tokens": lambda: 2,
    "merges": lambda: 2,
    "show_both.first": toy,
    "show_both.second": toy,
    "show_training.tie_break": lambda: "first_seen",
    "min_frequency": lambda: 1,
    "model_file": lambda: "read.model",
    "model_name": lambda: "gpt-4o",
    "n": lambda: 1,
    "name": lambda: "shard",
    "notebook_limit": lambda: 5,
    "num_threads": lambda: 1,
    "other": lambda: bytemill.PieceCounts({b"ab": 3}, pattern="gpt2"),
    "overlap": lambda: 1,
    "pad_vocab_to": lambda: 8,
    "train.kind": lambda: "bytes",
    "pat_str": lambda: r"\w+|\W+",
    "path": lambda: "counts.arrow",
    "PieceCounts.merge_files.paths": sorted_counts,
    "PieceCounts.save.sort": lambda: True,
    "PieceCounts.from_arrow.table": lambda: bytemill.PieceCounts({b"a": 1}).to_arrow(),
    "Encoding.from_file.path": lambda: "toy.bytemill",
    "PieceCounts.load.path": lambda: "read.arrow",
    "Comparison.write_chart.path": lambda: "chart.png",
    "pattern": lambda: "gpt2",
    "Encoding.from_file.pattern": lambda: None,
    "RegexTokenizer.pattern": lambda: None,
    "pieces": lambda: {b"ab": 3, b"abc": 2},
    "prefix": lambda: f"mine{next(NUMBERS)}",
    "prepend": lambda: [5],
    "progress": lambda: False,
    "write_shards.progress": lambda: None,
    **dict.fromkeys(
        ("jobs.compact.progress", "jobs.count_pieces.progress", "jobs.write_shards.progress"), lambda: None
    ),
    "purpose": lambda: "files",
    "provenance": lambda: {"corpus": "texts"},
    "resume": lambda: False,
    "trust_sources": lambda: False,
    "sequence": lambda: [1],
    "shard_tokens": lambda: 100,
    "side": lambda: "left",
    "source": lambda: ["abab ab"],
    "special_tokens": lambda: {"<|b|>": 301},
    "GPT4Tokenizer.register_special_tokens.special_tokens": lambda: {"<|b|>": 100300},
    "merge.pair": lambda: (97, 98),
    "s": lambda: "abc",
    "t": lambda: b"abc",
    "text": lambda: "abc<|a|> and",
    "Encoding.session.text": lambda: "abc",
    "every": lambda: 2,
    "streams": lambda: [toy().stream_decoder(), toy().stream_decoder()],
    "StreamDecoder.push_batch.tokens": lambda: [97, [97]],
    "held": lambda: [b""],
    "CoreBPE.continue_texts.tokens": lambda: [97],
    "cache": lambda: None,
    "CoreBPE.encode.cache": INSTANCES["CorePrefixCache"],
    "CoreBPE.encode_to_numpy.cache": INSTANCES["CorePrefixCache"],
    "max_bytes": lambda: 100,
    "min_text": lambda: 1,
    "prefix_cache": lambda: None,
    "is_finished": lambda: True,
    "final": lambda: False,
    "Encoding.encode_further.text": lambda: "abc",
    "Session.core": INSTANCES["CoreSession"],
    "Session.encoding": toy,
    "Session.options": lambda: ("all", ()),
    "Session.half": str,
    "StreamEncoder.core": INSTANCES["CoreStreamEncoder"],
    "chunk": lambda: "abc and",
    "start": lambda: 1,
    "end": lambda: 3,
    "Session.truncate.length": lambda: 2,
    "text_or_bytes": lambda: "ab",
    "texts": lambda: ["abc", "d"],
    "separators": lambda: ["b", " "],
    "compare": list,
    "compare.texts": lambda: {"some": ["abc", "d"]},
    "tie_break": lambda: "huggingface",
    "tiktoken_bpe_file": lambda: "toy.tiktoken",
    "timeout": lambda: 1.0,
    "token": lambda: 97,
    "token_id": lambda: 97,
    "tokens": lambda: [97, 98],
    "unit": lambda: "byte",
    "verbose": lambda: False,
    "vocab_bpe_file": lambda: "vocab.bpe",
    "vocab_bpe_hash": lambda: None,
    "vocab_file": lambda: "mine.vocab",
    "vocab_size": lambda: 257,
    "width": lambda: 40,
    "executor": lambda: jobs.Local(1),
    "files": lambda: Path("sentences"),
    "number": lambda: 0,
    "numbers": lambda: [1, 2],
    "plan": lambda: "job",
    "processes": lambda: 1,
    "task": lambda: print,
    "unit_bytes": lambda: "1k",
    "work": lambda: "job",
    "jobs.plan.work": lambda: f"folder{next(NUMBERS)}",
    "jobs.Plan.unchanged.unit": lambda: jobs.Plan.load("job").units[0],
    "jobs.Plan.check_sources.unit": lambda: jobs.Plan.load("job").units[0],
    "address": lambda: None,
    "dataset": Dataset,
    "frame": Frame,
    "into": lambda: "input_ids",
    "memory": lambda: "1M",
    "num_cpus": lambda: 1,
    "session": lambda: None,
    "to": lambda: f"folder{next(NUMBERS)}",
    "ray.Executor.call.function": lambda: dict,
    **dict.fromkeys(
        ("ray.encode.column", "spark.encode.column", "spark.count_pieces.column"), lambda: "text"
    ),
    "ray.count_pieces.column": lambda: None,
    **dict.fromkeys(("ray.count_pieces.field", "ray.write_shards.field"), lambda: None),
    **dict.fromkeys(("ray.count_pieces.progress", "ray.write_shards.progress"), lambda: None),
    **dict.fromkeys(("ray.count_pieces.source", "ray.write_shards.source"), lambda: Path("sentences")),
    "ray.train.counts": lambda: bytemill.PieceCounts({b"ab": 3}),
    "hf.accelerate.tokenizer": transformers_toy,
    "hf.restore.tokenizer": transformers_toy,
    "hf.is_accelerated.tokenizer": transformers_toy,
    "lint.path": lambda: "toy.bytemill",
    "hf.AddedToken.of.token": lambda: "abc",
    "hf.DecodeStream.step.tokenizer": INSTANCES["hf.Tokenizer"],
    "hf.Tokenizer.encode.sequence": lambda: "abc",
    **dict.fromkeys(
        (
            "hf.Tokenizer.encode_batch.input",
            "hf.Tokenizer.encode_batch_fast.input",
            "hf.Tokenizer.async_encode_batch.input",
            "hf.Tokenizer.async_encode_batch_fast.input",
        ),
        lambda: ["ab"],
    ),
    "hf.Tokenizer.add_special_tokens.tokens": lambda: ["<x>"],
    "hf.Tokenizer.add_tokens.tokens": lambda: ["<x>"],
    "hf.Tokenizer.from_file.path": lambda: "tokenizer.json",
    "hf.Tokenizer.from_pretrained.identifier": lambda: "tokenizer.json",
    "hf.Tokenizer.token_to_id.token": lambda: "a",
    "hf.Encoded.layout": lambda: INSTANCES["hf.Encoded"]().layout,
    "hf.Tokenizer.engine": lambda: INSTANCES["hf.Tokenizer"]()._engine,
    "hf.Tokenizer.async_encode.sequence": lambda: "abc",
    "hf.Tokenizer.async_encode.pair": lambda: None,
    "hf.Encoded.merge.encodings": lambda: [INSTANCES["hf.Encoded"]()] * 2,
    "hf.Tokenizer.post_process.encoding": INSTANCES["hf.Encoded"],
    "hf.Tokenizer.post_process.pair": lambda: None,
    "hf.Tokenizer.encode.pair": lambda: None,
    "hf.DecodeStream.ids": lambda: [97],
    "buffer": lambda: huggingface_toy().to_str().encode(),
    "char_pos": lambda: 1,
    "content": lambda: "<x>",
    "direction": lambda: "right",
    "growing_offsets": lambda: True,
    "is_pair": lambda: False,
    "is_pretokenized": lambda: False,
    "json": lambda: huggingface_toy().to_str(),
    "length": lambda: 12,
    "lstrip": lambda: False,
    "max_length": lambda: 2,
    "padding": lambda: 8,
    "pairs": lambda: ["e", "f"],
    "return_special_tokens_mask": lambda: True,
    "normalized": lambda: False,
    "pad_id": lambda: 97,
    "pad_to_multiple_of": lambda: 4,
    "pad_token": lambda: "a",
    "pad_type_id": lambda: 0,
    "pretty": lambda: False,
    "rstrip": lambda: False,
    "sequence_id": lambda: 0,
    "sequence_index": lambda: 0,
    "sequences": lambda: [[97]],
    "single_word": lambda: False,
    "skip_special_tokens": lambda: False,
    "special": lambda: True,
    "strategy": lambda: "longest_first",
    "stride": lambda: 0,
    "token_index": lambda: 0,
    "with_added_tokens": lambda: True,
    "word_index": lambda: 0,
}


class Case(NamedTuple):
    """A callable to test.

    Attributes:
        name: Qualified name: `Encoding.encode`.
        owner: The class of a method, otherwise `None`.
        thing: The function or class, or the name of the method.
    """

    name: str
    owner: type | None
    thing: Any

    def target(self) -> Callable[..., object]:
        """Returns the callable; a method is bound to a new instance."""
        target = self.thing
        if self.owner is not None:
            static = isinstance(inspect.getattr_static(self.owner, target), (classmethod, staticmethod))
            target = getattr(self.owner if static else instance_of(self.owner, self.name), target)
        return target  # type: ignore[no-any-return]


def instance_of(kind: type, method: str) -> Any:
    if method == "Encoding.save_sentencepiece":
        return bytemill.Encoding.from_file("read.sp.model")
    if method == "Encoding.candidates":
        Path("unigram.json").write_bytes(file_of("mbart"))
        return bytemill.Encoding.from_file("unigram.json")
    if method.startswith("Encoding.save_"):
        return gpt2()
    if kind is _core.PieceCounts:
        return _core.PieceCounts()
    name = method.rpartition(".")[0]
    return INSTANCES[name]() if name in INSTANCES else kind(**good_arguments(name, kind))


def named_parameters(target: Callable[..., object]) -> list[str]:
    """Returns the names of the parameters, without `*args` and `**kwargs`."""
    parameters = inspect.signature(target).parameters.values()
    return [item.name for item in parameters if item.kind not in {item.VAR_POSITIONAL, item.VAR_KEYWORD}]


def good_arguments(name: str, target: Callable[..., object]) -> dict[str, Any]:
    arguments = {}
    for parameter in named_parameters(target):
        make = GOOD.get(f"{name}.{parameter}", GOOD.get(parameter))
        assert make is not None, f"GOOD has no value for the parameter {parameter!r} of {name}"
        arguments[parameter] = make()
    if name.casefold().startswith("sentencepieceprocessor.parallel"):
        # Needed, though most of these methods only pass it on.
        arguments["chunk_len"] = GOOD["chunk_len"]()
    return arguments


def is_result(kind: type) -> bool:
    """Returns whether a class only holds results, whose constructor accepts anything."""
    return issubclass(kind, tuple) or is_dataclass(kind)


def is_method(value: object) -> bool:
    """Returns whether an attribute is a method; for Python 3.13 a cached property is a routine too."""
    return inspect.isroutine(value) and not isinstance(value, functools.cached_property)


def cases(modules: list[str]) -> Iterator[Case]:
    """Yields all public functions and classes of modules, with the methods that this package defines."""
    seen = set()
    for module in map(importlib.import_module, modules):
        # They have names that others have too.
        prefix = {hf: "hf.", jobs: "jobs.", ray: "ray.", spark: "spark."}.get(module, "")
        for name in (f"{prefix}{name}" for name in module.__all__):
            thing = getattr(module, name.removeprefix(prefix))
            if id(thing) in seen or not (inspect.isroutine(thing) or inspect.isclass(thing)):
                continue
            if getattr(thing, "_is_protocol", False):
                continue
            seen.add(id(thing))
            if not inspect.isclass(thing):
                yield Case(name, None, thing)
            elif not issubclass(thing, Exception):
                if not is_result(thing) and not inspect.isabstract(thing):
                    yield Case(name, None, thing)
                for attribute, value in inspect.getmembers(thing, is_method):
                    # Neither compiled methods nor built-in ones have a module.
                    home = getattr(value, "__module__", None) or thing.__mro__[-2].__module__
                    if not attribute.startswith("_") and home.startswith("bytemill"):
                        yield Case(f"{name}.{attribute}", thing, attribute)


def call(target: Callable[..., object], arguments: dict[str, Any]) -> None:
    """Calls, and takes the first elements of an iterator."""
    parameters = inspect.signature(target).parameters.values()
    by_place = [
        item for item in parameters if item.kind in {item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD}
    ]
    first = [arguments.pop(item.name) for item in by_place]
    result = target(*first, **arguments)
    if inspect.iscoroutine(result):
        asyncio.run(result)
    if isinstance(result, Iterator):
        list(itertools.islice(result, 10))


PUBLIC_CASES = list(cases(PUBLIC))
CORE_CASES = list(cases(["bytemill._core"]))

# Arguments of the compiled module, in random combinations.
CORE_VALUES: list[Callable[[], object]] = [
    lambda: dict(RANKS),
    lambda: {"<|a|>": 300},
    lambda: r"\w+|\W+",
    lambda: "gpt2",
    lambda: "abc<|a|> and",
    lambda: b"abc and",
    lambda: [97, 98, 256],
    lambda: [[97], [98]],
    lambda: ["abc", "d"],
    lambda: [b"ab", b"c"],
    lambda: {"<|a|>"},
    lambda: 1,
    lambda: 2,
    lambda: "uint32",
    lambda: "replace",
    lambda: np.array([0, 1, 3]),
    lambda: np.array([3, 1, 2**62]),
    lambda: np.array([2, 3], np.uint64),
    lambda: pa.array(["a", None]),
    lambda: b'{"text": "a"}\n',
    _core.PieceCounts,
    lambda: _core.Splitter(r"\w+|\W+"),
    lambda: _core.Splitter("x", lambda _: [5, 2, 7]),
    lambda: lambda _: [2**60, 2**61],
    lambda: lambda *_: None,
    lambda: "smallest_pair",
    lambda: "text",
]


@pytest.fixture(scope="module")
def readable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates a folder with readable files."""
    folder = tmp_path_factory.mktemp("readable")
    gpt2().save_tiktoken(folder / "toy.tiktoken")
    gpt2().save_gpt2(folder)
    gpt2().save(folder / "toy.bytemill")
    huggingface_toy().save(str(folder / "tokenizer.json"))
    trained(minbpe.BasicTokenizer).save(folder / "read")
    INSTANCES["PieceCounts"]().save(folder / "read.arrow")
    (folder / "read.sp.model").write_bytes(sentencepiece_model().serialize())
    (folder / "sentences").write_text("low lower lowest\n", encoding="utf-8")
    # Done with the good arguments, so that calls with others are not slow.
    plan = jobs.plan(folder / "sentences", folder / "job", errors="replace")
    count = good_arguments("jobs.count_pieces", jobs.count_pieces) | {"plan": plan}
    jobs.count_pieces(**count)
    jobs.write_shards(**good_arguments("jobs.write_shards", jobs.write_shards) | {"plan": plan})
    jobs.compact(**good_arguments("jobs.compact", jobs.compact) | {"plan": plan})
    return folder


@pytest.fixture(autouse=True)
def folder(readable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes into a folder with its own copies of these files."""
    shutil.copytree(readable, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")


@pytest.fixture(autouse=True, scope="module")
def engines() -> Iterator[None]:
    """Has calls of Ray and Spark done here."""
    with fake_engines():
        yield


def test_the_walk_finds_what_is_known_to_be_there() -> None:
    names = {case.name for case in PUBLIC_CASES}
    assert {
        "Encoding",
        "Encoding.encode",
        "Encoding.from_file",
        "PieceCounts.add",
        "StreamDecoder.push",
        "RegexTokenizer.train",
        "load_tiktoken_bpe",
        "encoding_for_model",
        "jobs.write_shards",
        "get_encoding",
        "write_shards",
        "show",
        "TokenView.terminal",
        "train",
    } <= names


def test_every_module_for_everybody_is_here() -> None:
    """Every module is listed as public or inner."""
    modules = {module.name for module in pkgutil.iter_modules(bytemill.__path__, "bytemill.")}
    of_minbpe = pkgutil.iter_modules(minbpe.__path__, "bytemill.minbpe.")
    modules |= {module.name for module in of_minbpe if "._" not in module.name}
    inner = {f"bytemill.{name}" for name in INNER}
    assert modules == inner | {*PUBLIC, *UNTRIED} - {"bytemill"}


@pytest.fixture(autouse=True)
def without_a_limit_of_the_process() -> Iterator[None]:
    """Other tests are not to have the limit that a wrong argument set, nor another tiktoken."""
    yield
    bytemill.set_process_cache_limit(None)
    bytemill.unpatch_tiktoken()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", PUBLIC_CASES, ids=[case.name for case in PUBLIC_CASES])
def test_wrong_arguments(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    of_sentencepiece = case.name.startswith(RUNTIME_ERRORS)
    is_offered = not (of_sentencepiece and case.name.partition(".")[2].startswith(NOT_OFFERED))
    if case.name not in NOT_IMPLEMENTED and is_offered:
        target = case.target()
        call(target, good_arguments(case.name, target))
    allowed = (*ORDINARY, NotImplementedError) if case.name in NOT_IMPLEMENTED else ORDINARY
    if of_sentencepiece:
        allowed = (*allowed, RuntimeError)
    tries = itertools.product(named_parameters(case.target()), WRONG.items())
    # The quick tests take every third; their number is no multiple of 3, so parameters have different ones.
    for parameter, (kind, make) in itertools.islice(
        tries, 0, None, 1 if os.environ.get("BYTEMILL_FULL") else 3
    ):
        target = case.target()
        arguments = good_arguments(case.name, target) | {parameter: make()}
        try:
            call(target, arguments)
        except allowed:
            continue
        except BaseException as error:  # noqa: BLE001 - a panic is no `Exception`
            pytest.fail(f"{parameter} is {kind}: {error!r}")
    capsys.readouterr()
    # Shared state is intact after any input.
    assert bytemill.get_encoding("gpt2").encode("hello world") == [31373, 995]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CORE_CASES, ids=[case.name for case in CORE_CASES])
def test_wrong_arguments_of_the_compiled_module(case: Case) -> None:
    """Calls the compiled module with several wrong values at a time."""
    source = random.Random(1)  # noqa: S311 - it can be repeated
    # The package passes lists, whose lengths are correct.
    values = [*(make for kind, make in WRONG.items() if kind != "a sequence that lies"), *CORE_VALUES]
    for _ in range(100):
        target = case.target()
        arguments = {name: source.choice(values)() for name in inspect.signature(target).parameters}
        with contextlib.suppress(*ORDINARY, AttributeError):
            call(target, arguments)


def test_quick_tests_try_other_values_for_each_parameter() -> None:
    assert len(WRONG) % 3
