"""Comparisons of texts that grow, change or are cut, with the ids of the whole, for a file and two texts."""

from __future__ import annotations

import itertools
import random
from typing import Any, NamedTuple

from support.random_files.answers import EVERY, REFUSED, Answers, Case, Subject, expected, found

__all__ = ["GROWTH"]


def whole(subject: Subject, text: str) -> Any:
    """Returns the ids of a text, as the original has them."""
    return expected(lambda: subject.bare.encode(text).ids)


def streams(subject: Subject, case: Case) -> Answers:
    """Encodes a text that comes in parts."""
    dice = case.dice()

    def ours() -> Any:
        stream, rest, ids = subject.encoding.stream_encoder(**EVERY), case.text, []
        while rest:
            size = dice.choice([1, 1, 2, 3, 7])
            ids += stream.push(rest[:size])
            rest = rest[size:]
        return ids + stream.flush()

    return whole(subject, case.text), found(ours)


class Change(NamedTuple):
    """A change of a session.

    Attributes:
        name: The method.
        arguments: Its arguments.
        text: What the text is then.
    """

    name: str
    arguments: tuple[Any, ...]
    text: str


def random_change(dice: random.Random, text: str, part: str) -> Change:
    """Returns a change of a text, by a part of another one."""
    start = dice.randint(0, len(text))
    end = min(len(text), start + dice.choice([0, 1, 2, 5]))
    replaced = text[:start] + part + text[end:]
    return dice.choice(
        [
            *[Change("append", (part,), text + part)] * 2,
            Change("edit", (start, end, part), replaced),
            Change("update", (replaced,), replaced),
            Change("truncate", (start,), text[:start]),
        ]
    )


def sessions(subject: Subject, case: Case) -> Answers:
    """Changes a text: it grows, is cut, and parts of it are replaced; what is refused changes nothing."""
    dice, text = case.dice(), case.other
    session = found(lambda: subject.encoding.session(text, **EVERY))
    ids = whole(subject, text)
    if REFUSED in (ids, session):
        return ids, session
    theirs, ours = [ids], [session.tolist()]
    for place in range(0, len(case.text) + 1, 3):
        change = random_change(dice, text, case.text[place : place + dice.randint(1, 4)])
        ids, before = whole(subject, change.text), session.tolist()
        method = getattr(session, change.name)
        update = found(lambda: method(*change.arguments))  # noqa: B023 - it is called at once
        if update == REFUSED:
            theirs.append([ids, before])
            ours.append([update, session.tolist()])
            continue
        before[update.start : update.stop] = update.ids
        text = change.text
        theirs.append([ids, ids, text, len(ids)])
        ours.append([session.tolist(), before, session.text, session.count])
    return theirs, ours


def cuts(subject: Subject, case: Case) -> Answers:
    """Encodes parts of a text that `split_points` cuts."""
    encoding, text = subject.encoding, case.text + case.other

    def ours() -> Any:
        points = [0, *encoding.split_points(text, case.seed % 7 + 1), len(text)]
        parts = [text[start:end] for start, end in itertools.pairwise(points)]
        ids = encoding.encode_ordinary(parts[0])
        for part in parts[1:]:
            ids += encoding.encode_further(part, disallowed_special=())
        return ids

    return found(lambda: encoding.encode_ordinary(text)), found(ours)


GROWTH = [streams, sessions, cuts]
