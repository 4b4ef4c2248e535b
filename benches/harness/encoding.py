"""The rows of `suites/encoding.toml`: each function of `MEASURE` yields the cells of a row."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import tiktoken

from harness.capacity import parallelism
from harness.corpora import DOCUMENT_BYTES, cut
from harness.engines import SENTENCE, SLOW, Call, Calls, load
from harness.measure import (
    Case,
    Contender,
    IdsDifferError,
    Limits,
    Work,
    alternate,
    attempt,
    digest,
    make_cell,
    measure,
)
from harness.processes import run_worker
from harness.record import Cell
from harness.suites import suite

SUITE = suite("encoding")
OURS: str = SUITE["own"]

SCATTERED_DOCUMENTS = 50
STRING_BYTES = 100
SHORT_TEXTS = {"empty text": "", "one piece": " the"}
SHORT_CALLS = 10_000

# The encoding for measuring loading and memory.
MEMORY_ENCODING = "o200k_base"

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Shared by all rows.

    Attributes:
        corpora: Texts by name.
        encodings: Names of the encodings; `None` for those of each row.
        engines: Names of the engines, in order.
        limits: When to stop with a group in this process.
        fresh_limits: The same in fresh processes.
        folder: Folder with the vocabularies, and files for other processes.
        size: "full" or "quick".
        loaded: The engines loaded so far.
        capacity: Samples of the available parallelism.
    """

    corpora: Mapping[str, str]
    encodings: Sequence[str] | None
    engines: Sequence[str]
    limits: Limits
    fresh_limits: Limits
    folder: Path
    size: str
    loaded: dict[tuple[str, str], Calls] = field(default_factory=dict)
    capacity: list[float] = field(default_factory=list)

    def calls(self, engine: str, encoding: str) -> Calls:
        """Returns the calls of an engine; none if it does not have the encoding."""
        key = (engine, encoding)
        if key not in self.loaded:
            try:
                self.loaded[key] = load(engine, encoding, self.folder)
            except LookupError:
                self.loaded[key] = {}
        return self.loaded[key]

    def tiktoken(self, encoding: str, way: str = "list") -> Callable[..., Any]:
        """Returns a call of the reference engine."""
        return self.calls("tiktoken", encoding)[way].work

    def encodings_of(self, row: Row) -> Sequence[str]:
        """Returns the names of the encodings of a row."""
        return self.encodings or [*SUITE["encodings"], *row.get("more_encodings", ())]

    def amount(self, name: str) -> int:
        """Returns a size of the suite, full or quick."""
        amount: int = SUITE[name][self.size]
        return amount

    def documents(self, corpus: str) -> list[str]:
        """Returns the first documents of 4 KB of a corpus."""
        return cut(self.corpora[corpus], DOCUMENT_BYTES)[: self.amount("document_bytes") // DOCUMENT_BYTES]

    def file(self, name: str, contents: str) -> str:
        """Writes a text for other processes and returns its path."""
        path = self.folder / name
        if not path.exists():
            path.write_bytes(contents.encode())
        return str(path)

    def measure(self, case: Case, contenders: Sequence[Contender], expected: object) -> list[Cell]:
        """Measures in this process; `expected` is tiktoken's answer."""
        return measure(case, contenders, digest(expected), self.limits)

    def measure_fresh(
        self, case: Case, engines: Iterable[str], task: Mapping[str, Any], expected: object = None
    ) -> Iterator[Cell]:
        """Measures in fresh processes, one for every round of every engine."""
        wanted = None if expected is None else digest(expected)
        calls: dict[str, Call] = {}

        def one_round(engine: str) -> float:
            result = run_worker({**task, "engine": engine, "folder": str(self.folder)})
            calls[engine] = called(result)
            if wanted is not None and result["digest"] != wanted:
                raise IdsDifferError
            seconds: float = result["seconds"]
            return seconds

        able = [engine for engine in engines if self.calls(engine, task["encoding"])]
        times, errors = alternate({engine: partial(one_round, engine) for engine in able}, self.fresh_limits)
        for engine in able:
            contender = Contender(engine=engine, call=calls.get(engine, called({})), work=no_work)
            cell = make_cell(case, contender, times[engine], errors.get(engine))
            yield cell if wanted is not None else replace(cell, ids_equal=None)


def called(result: Mapping[str, Any]) -> Call:
    """Returns how a worker called its engine."""
    return Call(result.get("call", ""), result.get("form", ""), no_work, result.get("threads", 1))


def no_work() -> None:
    """Placeholder for work in another process."""


def size_of(texts: Iterable[str]) -> int:
    """Returns the number of bytes as UTF-8."""
    return sum(len(text.encode()) for text in texts)


# --- Samples: the arguments of a round ---


class Sample(NamedTuple):
    """The arguments of the calls of a round.

    Attributes:
        corpus: Name of the text.
        arguments: Argument of each call.
        size: Bytes of text.
        expected: Computes tiktoken's answer, a list for several calls.
        engines: The engines that take it; all if empty.
    """

    corpus: str
    arguments: Sequence[Any]
    size: int
    expected: Callable[[], Any]
    engines: Sequence[str] = ()


def of_text(bench: Bench, encoding: str, row: Row) -> Iterator[Sample]:
    """Whole texts; with `slow_apart` the slow engines get only the beginning, in a group of their own."""
    encode = bench.tiktoken(encoding)
    slow = [engine for engine in bench.engines if engine in SLOW]
    fast = [engine for engine in bench.engines if engine not in SLOW]
    for corpus, text in bench.corpora.items():
        yield Sample(corpus, [text], size_of([text]), partial(encode, text), fast)
        if slow and row.get("slow_apart"):
            start = text[: SUITE["slow_characters"]]
            yield Sample(
                f"{corpus}, beginning", [start], size_of([start]), partial(encode, start), [OURS, *slow]
            )


def encode_each(encode: Callable[[str], Any], texts: Sequence[str]) -> list[Any]:
    """Returns the answer for each text."""
    return [encode(text) for text in texts]


def identity(answer: Any) -> Any:
    """Returns an answer that is already known."""
    return answer


def each(corpus: str, texts: Sequence[str], encode: Callable[[str], Any]) -> Sample:
    """A call for each text."""
    return Sample(corpus, texts, size_of(texts), partial(encode_each, encode, texts))


def of_documents(bench: Bench, encoding: str, _row: Row) -> Iterator[Sample]:
    """Documents of 4 KB."""
    for corpus in bench.corpora:
        yield each(corpus, bench.documents(corpus), bench.tiktoken(encoding))


def of_strings(bench: Bench, encoding: str, _row: Row) -> Iterator[Sample]:
    """Strings of 100 bytes."""
    for corpus in bench.corpora:
        texts = cut("".join(bench.documents(corpus)[:256]), STRING_BYTES)
        yield each(corpus, texts, bench.tiktoken(encoding))


def of_short_texts(bench: Bench, encoding: str, _row: Row) -> Iterator[Sample]:
    """Calls with next to no work."""
    for name, text in SHORT_TEXTS.items():
        yield each(name, [text] * SHORT_CALLS, bench.tiktoken(encoding))


def of_scattered_documents(bench: Bench, encoding: str, _row: Row) -> Iterator[Sample]:
    """Fifty documents from all over a text."""
    for corpus, text in bench.corpora.items():
        everything = cut(text, DOCUMENT_BYTES)
        texts = everything[:: max(1, len(everything) // SCATTERED_DOCUMENTS)][:SCATTERED_DOCUMENTS]
        yield each(corpus, texts, bench.tiktoken(encoding))


def of_batch(bench: Bench, encoding: str, _row: Row) -> Iterator[Sample]:
    """All documents of 4 KB in one call, without the slow engines."""
    encode = bench.tiktoken(encoding)
    fast = [engine for engine in bench.engines if engine not in SLOW]
    for corpus, text in bench.corpora.items():
        texts = cut(text, DOCUMENT_BYTES)
        yield Sample(corpus, [texts], size_of([text]), partial(encode_each, encode, texts), fast)


def of_ids(bench: Bench, encoding: str, row: Row) -> Iterator[Sample]:
    """The ids of a text, as a list or an array, without the last ones if these end inside a character."""
    decode_bytes = bench.tiktoken(encoding, "decode_bytes")
    for corpus, text in bench.corpora.items():
        ids = bench.tiktoken(encoding)(text)[: bench.amount("decoded_ids")]
        while (data := decode_bytes(ids)) != data.decode(errors="ignore").encode():
            ids = ids[:-1]
        argument = np.array(ids, dtype=np.uint32) if row["input"] == "id array" else ids
        answer = data.decode() if row["way"] == "decode" else data
        yield Sample(corpus, [argument], len(data), partial(identity, answer))


def of_id_lists(bench: Bench, encoding: str, _row: Row) -> Iterator[Sample]:
    """The ids of each document, in one call."""
    for corpus in bench.corpora:
        batch = [bench.tiktoken(encoding)(document) for document in bench.documents(corpus)]
        texts = bench.tiktoken(encoding, "decode_batch")(batch)
        yield Sample(corpus, [batch], size_of(texts), partial(identity, texts))


SAMPLES: dict[str, Callable[[Bench, str, Row], Iterator[Sample]]] = {
    "text": of_text,
    "documents": of_documents,
    "strings": of_strings,
    "short texts": of_short_texts,
    "scattered documents": of_scattered_documents,
    "batch": of_batch,
    "ids": of_ids,
    "id array": of_ids,
    "id lists": of_id_lists,
}


# --- Rows ---


def samples(bench: Bench, row: Row) -> Iterator[tuple[Case, Sample]]:
    """Yields the groups of a row."""
    for encoding in bench.encodings_of(row):
        for sample in SAMPLES[row["input"]](bench, encoding, row):
            case = Case(
                row=row["key"],
                corpus=sample.corpus,
                encoding=encoding,
                state=row.get("state", "replay"),
                size=sample.size,
                calls=len(sample.arguments),
            )
            yield case, sample


def calls(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures calls in this process, of text seen before."""
    for case, sample in samples(bench, row):
        contenders = list(contenders_of(bench, case, row, sample))
        expected = sample.expected()
        yield from bench.measure(case, contenders, len(expected) if row["way"] == "count" else expected)
        if "threads" in row:
            bench.capacity.append(parallelism(row["threads"]))


def contenders_of(bench: Bench, case: Case, row: Row, sample: Sample) -> Iterator[Contender]:
    """Yields the engines that have the call of a row, and its variants."""
    for variant in [{}, *row.get("beside", ())]:
        way, threads = variant.get("way", row["way"]), variant.get("threads", row.get("threads"))
        for engine in sample.engines or bench.engines:
            call = call_of(bench, engine, case.encoding, way)
            if call is None or engine not in variant.get("engines", bench.engines):
                continue
            arguments = [(argument, threads) if threads else (argument,) for argument in sample.arguments]
            answer = partial(all_answers, call, arguments)
            yield Contender(
                engine=engine,
                variant=variant.get("variant", ""),
                call=call,
                work=partial(call.work, *arguments[0])
                if len(arguments) == 1
                else partial(for_each, call.work, sample.arguments),
                answer=partial(length, answer) if row["way"] == "count" != way else answer,
                threads=threads or 1,
            )


def call_of(bench: Bench, engine: str, encoding: str, way: str) -> Call | None:
    """Returns a call of an engine; those without a call for arrays of ids get lists, by `decode_bytes`."""
    found = bench.calls(engine, encoding)
    return found.get(way, found.get("decode_bytes") if way == "decode_array" else None)


def all_answers(call: Call, arguments: Sequence[tuple[Any, ...]]) -> Any:
    """Returns the result of a call, or a list of the results of several."""
    if len(arguments) == 1:
        return call.work(*arguments[0])
    return [call.work(*each) for each in arguments]


def length(answer: Callable[[], Any]) -> int:
    """Returns the number of ids, to compare encoding with counting."""
    return len(answer())


def for_each(call: Callable[[str], object], texts: Iterable[str]) -> None:
    """Calls with every text, dropping each result for the next."""
    for text in texts:
        call(text)


def fresh(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures calls in fresh processes that have encoded one sentence before."""
    for case, sample in samples(bench, row):
        texts = sample.arguments[0] if len(sample.arguments) == 1 else sample.arguments
        path = bench.file(f"{row['key']} {case.corpus}.json", json.dumps(texts))
        task = {"task": "encoding", "encoding": case.encoding, "input": path, "way": row["way"]}
        yield from bench.measure_fresh(case, sample.engines or bench.engines, task, sample.expected())


def single_pieces(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures texts that are a single piece: new ones, new ones of twice the length, and repeated ones."""
    length = bench.amount("piece_characters")
    rounds = bench.limits.rounds + 1
    for encoding in bench.encodings_of(row):
        # Its pattern gives up on some of these texts, its merges do not.
        encode = tiktoken.get_encoding(encoding)._encode_single_piece
        for name, piece in adversarial_pieces(2 * length + rounds).items():
            size = len(piece[:length].encode())
            case = Case(row=row["key"], corpus=name, encoding=encoding, state=row["state"], size=size)
            # A piece of another length is a new piece: every round has its own, after one for comparing.
            once = [piece[: length + more] for more in range(rounds)]
            twice = [piece[: 2 * length + more] for more in range(rounds)]
            contenders = [
                Contender(
                    engine=engine,
                    call=call,
                    work=next_text(call, once[1:]),
                    answer=partial(all_answers, call, [(once[0],), (twice[0],)]),
                )
                for engine in bench.engines
                if engine not in SLOW and (call := bench.calls(engine, encoding).get(row["way"])) is not None
            ]
            doubled = [
                replace(each, variant="twice as long", work=next_text(each.call, twice[1:]), size=2 * size)
                for each in contenders
                if each.engine == OURS
            ]
            expected = [encode(once[0]), encode(twice[0])]
            yield from bench.measure(case, [*contenders, *doubled], expected)
            case = replace(case, row=f"{row['key']} replay", state="replay")
            again = [replace(each, work=partial(each.call.work, once[0]), answer=None) for each in contenders]
            yield from bench.measure(case, again, expected[0])


def adversarial_pieces(length: int) -> dict[str, str]:
    """Returns texts of `length` characters that no pattern splits."""
    repeated = {"a": "a", "spaces": " ", "ab": "ab", "^": "^", "一": "一"}
    letters = random.Random(1).choices(ascii_lowercase, k=length)  # noqa: S311 - reproducible, not secret
    pieces = {name: (text * length)[:length] for name, text in repeated.items()}
    return pieces | {"random letters": "".join(letters)}


def next_text(call: Call, texts: Sequence[str]) -> Work:
    """Returns a function that encodes the next text each time."""
    remaining = iter(texts)
    return lambda: call.work(next(remaining))


def process_case(row: Row, corpus: str, size: int = 0) -> Case:
    """Returns the group of a row about whole processes."""
    return Case(row=row["key"], corpus=corpus, encoding=MEMORY_ENCODING, state=row["state"], size=size)


def loading(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures from a fresh process to the ids of a sentence."""
    expected = bench.tiktoken(MEMORY_ENCODING)(SENTENCE)
    task = {"task": "loading", "encoding": MEMORY_ENCODING}
    return bench.measure_fresh(process_case(row, "a sentence"), bench.engines, task, expected)


def importing(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures the import alone."""
    for corpus, after in {"whole": [], "after numpy": ["numpy"]}.items():
        task = {"task": "importing", "encoding": MEMORY_ENCODING, "after": after}
        yield from bench.measure_fresh(process_case(row, corpus), bench.engines, task)


def memory(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures the memory that stays resident after loading."""
    return memory_cells(bench, process_case(row, "a sentence"), bench.engines, {"task": "loading"})


def growth(bench: Bench, row: Row) -> Iterator[Cell]:
    """Measures the memory growth by documents without end, on one thread."""
    size = bench.amount("growth_bytes")
    text = bench.file("all.txt", "".join(bench.corpora.values()))
    engines = [engine for engine in bench.engines if engine in row["engines"]]
    return memory_cells(
        bench, process_case(row, "all", size), engines, {"task": "growth", "text": text, "bytes": size}
    )


def memory_cells(bench: Bench, case: Case, engines: Sequence[str], task: Row) -> Iterator[Cell]:
    """Yields memory growth as measured by a worker, and the memory reported by the engine itself."""
    variants = {"megabytes": "", "used": "memory_usage()", "cleared": "memory_usage() after clear_cache()"}
    for engine in engines:
        if not bench.calls(engine, case.encoding):
            continue
        whole_task = {**task, "engine": engine, "encoding": case.encoding, "folder": str(bench.folder)}
        result: dict[str, Any] = {}
        error = attempt(partial(update, result, whole_task))
        if error is not None:
            yield make_cell(case, Contender(engine=engine, call=called({}), work=no_work), [], error)
        for key, variant in variants.items():
            if key in result:
                contender = Contender(engine=engine, call=called(result), work=no_work, variant=variant)
                yield replace(make_cell(case, contender, [result[key]], None), unit="MB", ids_equal=None)


def update(result: dict[str, Any], task: Row) -> None:
    """Runs a task and adds its result to `result`."""
    result.update(run_worker(task))


MEASURE: dict[str, Callable[[Bench, Row], Iterator[Cell]]] = {
    "calls": calls,
    "fresh": fresh,
    "single_pieces": single_pieces,
    "loading": loading,
    "importing": importing,
    "memory": memory,
    "growth": growth,
}
