"""The rows of the comparison: one function for each number, which yields its cells."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np
import tiktoken

from bench import Bench, called, no_work, run_worker, size_of
from cores import work_at_once
from corpora import DOCUMENT_BYTES, cut
from engines import SENTENCE, SLOW, Call
from measuring import Cell, Contender, Place, Work, attempt, make_cell

THREADS = 2
ISOLATED_DOCUMENTS = 50
STRING_BYTES = 100
CALLS = 10_000

# What loading and memory are measured with.
MEMORY_ENCODING = "o200k_base"

# The two that are also measured on one thread in a batch, and with documents without end.
CLOSEST = ("bytemill", "gigatoken")


def given(*arguments: object) -> Callable[[Call], Work]:
    """What a round is: one call with these arguments."""
    return lambda call: lambda: call.work(*arguments)


def first_pass(bench: Bench) -> Iterator[Cell]:
    """One long text to an array, in a process that has encoded one sentence before."""
    for encoding, corpus, text, engines in bench.long_texts():
        place = Place(row="1", corpus=corpus, encoding=encoding, state="first pass", size=size_of([text]))
        path = bench.file(f"{corpus}.txt", text)
        expected = bench.tiktoken(encoding)["list"].work(text)
        task = {"task": "first_pass", "encoding": encoding, "text": path}
        yield from bench.measure_fresh(place, engines, task, expected)


def replay(bench: Bench) -> Iterator[Cell]:
    """The same text again and again."""
    for encoding, corpus, text, engines in bench.long_texts():
        place = Place(row="2", corpus=corpus, encoding=encoding, state="replay", size=size_of([text]))
        contenders = bench.contenders(encoding, "array", given(text))
        chosen = [contender for contender in contenders if contender.engine in engines]
        yield from bench.measure(place, chosen, bench.tiktoken(encoding)["list"].work(text))


def documents(bench: Bench) -> Iterator[Cell]:
    """Documents of 4 KB to lists, one call each."""
    for encoding, corpus, _ in bench.each_text():
        texts = bench.documents(corpus)
        yield from over_texts(bench, "3", encoding, corpus, texts)


def strings(bench: Bench) -> Iterator[Cell]:
    """Strings of 100 bytes to lists; and calls that have next to nothing to do."""
    for encoding, corpus, _ in bench.each_text():
        texts = cut("".join(bench.documents(corpus)[:256]), STRING_BYTES)
        yield from over_texts(bench, "4", encoding, corpus, texts)
    for encoding in bench.encodings:
        for name, text in {"empty text": "", "one piece": " the"}.items():
            texts = [text] * CALLS
            yield from over_texts(bench, "4 call", encoding, name, texts)


def over_texts(bench: Bench, row: str, encoding: str, corpus: str, texts: Sequence[str]) -> list[Cell]:
    """Measures calls with each of many texts, to lists."""
    place = Place(
        row=row, corpus=corpus, encoding=encoding, state="replay", size=size_of(texts), calls=len(texts)
    )
    encode = bench.tiktoken(encoding)["list"].work
    return bench.measure(place, bench.over_texts(encoding, "list", texts), [encode(text) for text in texts])


def checked(bench: Bench) -> Iterator[Cell]:
    """Documents with the default rule for special tokens, beside our encoding without."""
    for encoding, corpus, _ in bench.each_text():
        texts = bench.documents(corpus)
        place = Place(
            row="5", corpus=corpus, encoding=encoding, state="replay", size=size_of(texts), calls=len(texts)
        )
        unchecked = [
            replace(contender, variant=contender.call.name)
            for contender in bench.over_texts(encoding, "list", texts)
            if contender.engine == "bytemill"
        ]
        encode = bench.tiktoken(encoding)["list"].work
        contenders = [*bench.over_texts(encoding, "checked", texts), *unchecked]
        yield from bench.measure(place, contenders, [encode(text) for text in texts])


def isolated(bench: Bench) -> Iterator[Cell]:
    """Fifty documents from all over a text, in a process that has encoded one sentence before."""
    for encoding, corpus, text in bench.each_text():
        everything = cut(text, DOCUMENT_BYTES)
        texts = everything[:: max(1, len(everything) // ISOLATED_DOCUMENTS)][:ISOLATED_DOCUMENTS]
        place = Place(
            row="6", corpus=corpus, encoding=encoding, state="isolated", size=size_of(texts), calls=len(texts)
        )
        path = bench.file(f"{corpus}.json", json.dumps(texts))
        encode = bench.tiktoken(encoding)["list"].work
        task = {"task": "isolated", "encoding": encoding, "texts": path}
        yield from bench.measure_fresh(place, bench.engines, task, [encode(text) for text in texts])


def batches(bench: Bench) -> Iterator[Cell]:
    """All documents in one call, on two threads, and on one for those who can choose."""
    for encoding, corpus, text in bench.each_text():
        texts = cut(text, DOCUMENT_BYTES)
        contenders = [
            replace(contender, threads=THREADS)
            for contender in bench.contenders(encoding, "batch", given(texts, THREADS))
            if contender.engine not in SLOW
        ]
        place = Place(row="7", corpus=corpus, encoding=encoding, state="replay", size=size_of([text]))
        encode = bench.tiktoken(encoding)["list"].work
        expected = [encode(each) for each in texts]
        alone = [one_thread(contender, texts) for contender in contenders if contender.engine in CLOSEST]
        yield from bench.measure(place, [*contenders, *alone], expected)
        bench.cores.append(work_at_once(THREADS))


def threads(bench: Bench) -> Iterator[Cell]:
    """One long text on two threads."""
    for encoding, corpus, text in bench.each_text():
        contenders = bench.contenders(encoding, "threaded", given(text, THREADS))
        two = [replace(contender, threads=THREADS) for contender in contenders]
        place = Place(row="8", corpus=corpus, encoding=encoding, state="replay", size=size_of([text]))
        expected = bench.tiktoken(encoding)["list"].work(text)
        yield from bench.measure(place, [*two, *(one_thread(each, text) for each in two)], expected)
        bench.cores.append(work_at_once(THREADS))


def one_thread(contender: Contender, argument: object) -> Contender:
    """The same contender with one thread."""
    return replace(contender, variant="1 thread", threads=1, work=given(argument, 1)(contender.call))


def long_pieces(bench: Bench) -> Iterator[Cell]:
    """Texts that are a single piece: never seen, of one length and of twice that, and seen before."""
    length = 100_000 if bench.quick else 1_000_000
    rounds = bench.limits.rounds + 1
    for encoding in bench.encodings:
        # Its pattern gives up on some of these texts, its merges do not.
        encode = tiktoken.get_encoding(encoding)._encode_single_piece
        for name, piece in single_pieces(2 * length + rounds).items():
            size = len(piece[:length].encode())
            place = Place(row="9", corpus=name, encoding=encoding, state="fresh pieces", size=size)
            # A piece of another length is another piece: every round has its own, after one to compare.
            once = [piece[: length + more] for more in range(rounds)]
            twice = [piece[: 2 * length + more] for more in range(rounds)]
            contenders = [
                replace(each, work=next_text(each.call, once[1:]), answer=both(each.call, once[0], twice[0]))
                for each in bench.contenders(encoding, "array", given(once[0]))
                if each.engine not in SLOW
            ]
            doubled = [
                replace(each, variant="twice as long", work=next_text(each.call, twice[1:]), size=2 * size)
                for each in contenders
                if each.engine == "bytemill"
            ]
            expected = [encode(once[0]), encode(twice[0])]
            yield from bench.measure(place, [*contenders, *doubled], expected)
            place = replace(place, row="9 replay", state="replay")
            again = [replace(each, work=given(once[0])(each.call), answer=None) for each in contenders]
            yield from bench.measure(place, again, encode(once[0]))


def single_pieces(length: int) -> dict[str, str]:
    """Texts of `length` characters that no pattern splits."""
    repeated = {"a": "a", "spaces": " ", "ab": "ab", "^": "^", "一": "一"}
    letters = random.Random(1).choices(ascii_lowercase, k=length)  # noqa: S311 - no secret
    pieces = {name: (text * length)[:length] for name, text in repeated.items()}
    return pieces | {"random letters": "".join(letters)}


def next_text(call: Call, texts: Sequence[str]) -> Work:
    """Encodes the next text each time."""
    coming = iter(texts)
    return lambda: call.work(next(coming))


def both(call: Call, first: str, second: str) -> Work:
    """Encodes two texts."""
    return lambda: [call.work(first), call.work(second)]


def loading(bench: Bench) -> Iterator[Cell]:
    """From nothing to the ids of a sentence; and imports alone."""
    encoding = MEMORY_ENCODING
    place = Place(row="10", corpus="a sentence", encoding=encoding, state="first pass", size=0)
    expected = bench.tiktoken(encoding)["list"].work(SENTENCE)
    task = {"task": "loading", "encoding": encoding}
    yield from bench.measure_fresh(place, bench.engines, task, expected)
    for corpus, after in {"whole": [], "after numpy": ["numpy"]}.items():
        place = Place(row="10 import", corpus=corpus, encoding=encoding, state="first pass", size=0)
        importing = {"task": "importing", "encoding": encoding, "after": after}
        yield from bench.measure_fresh(place, bench.engines, importing)


def memory(bench: Bench) -> Iterator[Cell]:
    """What stays resident after loading, and what comes with documents without end, one thread."""
    encoding = MEMORY_ENCODING
    place = Place(row="11", corpus="a sentence", encoding=encoding, state="first pass", size=0)
    for engine in bench.engines:
        if bench.calls(engine, encoding):
            yield from memory_cells(bench, place, engine, {"task": "loading"})
    text = "".join(bench.corpora.values())
    most = 20_000_000 if bench.quick else 1_000_000_000
    place = Place(row="11 growth", corpus="all", encoding=encoding, state="fresh pieces", size=most)
    task = {"task": "growth", "text": bench.file("all.txt", text), "bytes": most}
    for engine in bench.engines:
        if engine in CLOSEST:
            yield from memory_cells(bench, place, engine, task)


def memory_cells(bench: Bench, place: Place, engine: str, task: dict[str, object]) -> Iterator[Cell]:
    """What a worker reports of memory: how much it grew, and what the engine says itself."""
    results: list[dict[str, Any]] = []
    whole_task = {**task, "engine": engine, "encoding": place.encoding, "folder": str(bench.folder)}
    error = attempt(lambda: results.append(run_worker(whole_task)))
    if error is not None:
        yield make_cell(place, Contender(engine=engine, call=called({}), work=no_work), [], error)
        return
    result = results[0]
    names = {"megabytes": "", "used": "memory_usage()", "cleared": "memory_usage() after clear_cache()"}
    for key, variant in names.items():
        if key in result:
            contender = Contender(engine=engine, call=called(result), work=no_work, variant=variant)
            yield replace(make_cell(place, contender, [result[key]], None), unit="MB", ids_equal=None)


def decoding(bench: Bench) -> Iterator[Cell]:
    """The ids of a text to text and bytes. Who does not take arrays is given a list."""
    most = 100_000 if bench.quick else 1_000_000
    for encoding, corpus, text in bench.each_text():
        original = bench.tiktoken(encoding)
        ids = whole_characters(original["list"].work(text)[:most], original["decode_bytes"].work)
        array = np.array(ids, dtype=np.uint32)
        data: bytes = original["decode_bytes"].work(ids)
        place = Place(row="12 text", corpus=corpus, encoding=encoding, state="replay", size=len(data))
        yield from bench.measure(place, bench.contenders(encoding, "decode", given(ids)), data.decode())
        to_bytes = bench.contenders(encoding, "decode_bytes", given(ids))
        yield from bench.measure(replace(place, row="12 bytes"), to_bytes, data)
        of_arrays = bench.contenders(encoding, "decode_array", given(array))
        able = {contender.engine for contender in of_arrays}
        of_lists = [contender for contender in to_bytes if contender.engine not in able]
        yield from bench.measure(replace(place, row="12 array"), [*of_arrays, *of_lists], data)
        batch = [original["list"].work(document) for document in bench.documents(corpus)]
        texts = original["decode_batch"].work(batch)
        place = replace(place, row="12 batch", size=size_of(texts))
        with_batch = bench.contenders(encoding, "decode_batch", given(batch))
        yield from bench.measure(place, with_batch, texts)


def whole_characters(ids: list[int], decode_bytes: Callable[[list[int]], bytes]) -> list[int]:
    """Leaves out the last ids if they end inside a character."""
    while (data := decode_bytes(ids)) != data.decode(errors="ignore").encode():
        ids = ids[:-1]
    return ids


def length_of(call: Call, text: str) -> int:
    """How many ids a call gives."""
    return len(call.work(text))


def counting(bench: Bench) -> Iterator[Cell]:
    """How many ids a long text has, beside our way to an array of them."""
    for encoding, corpus, text in bench.each_text():
        place = Place(row="13", corpus=corpus, encoding=encoding, state="replay", size=size_of([text]))
        number = len(bench.tiktoken(encoding)["list"].work(text))
        contenders = bench.contenders(encoding, "count", given(text))
        array = bench.calls("bytemill", encoding)["array"]
        whole = Contender(
            engine="bytemill",
            variant="to an array",
            call=array,
            work=given(text)(array),
            answer=partial(length_of, array, text),
        )
        yield from bench.measure(place, [*contenders, whole], number)


ROWS: dict[int, Callable[[Bench], Iterator[Cell]]] = {
    1: first_pass,
    2: replay,
    3: documents,
    4: strings,
    5: checked,
    6: isolated,
    7: batches,
    8: threads,
    9: long_pieces,
    10: loading,
    11: memory,
    12: decoding,
    13: counting,
}
