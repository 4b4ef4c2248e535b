"""Functions of the module: threads, random numbers and log messages."""

from __future__ import annotations

from typing import Any, NoReturn

from bytemill.sentencepiece.arguments import thread_count

__all__ = [
    "ThreadPool",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]


class ThreadPool:
    """A number of threads, which methods take as `thread_pool`. They start and end with each call."""

    def __init__(self, num_threads: int) -> None:
        """Sets the number of threads; a negative number means all processors."""
        self._num_threads = thread_count(num_threads)

    def num_threads(self) -> int:
        """Returns the number of threads."""
        return self._num_threads


def set_random_generator_seed(seed: int) -> None:
    """Does nothing: nothing is random; the option `seed` of training determines which sentences are kept."""
    if not isinstance(seed, int):
        raise TypeError(f"expected the seed to be an int, not {seed!r:.40}")


def set_min_log_level(level: int) -> None:
    """Does nothing: nothing is logged."""
    if not isinstance(level, int):
        raise TypeError(f"expected the level to be an int, not {level!r:.40}")


def set_nbest_timeout(seconds: int) -> None:
    """Does nothing: a BPE model has one way to encode a text."""
    if not isinstance(seconds, int):
        raise TypeError(f"expected the seconds to be an int, not {seconds!r:.40}")


def set_data_dir(data_dir: str) -> NoReturn:
    """Raises `NotImplementedError`: the named normalization rules are built in."""
    raise NotImplementedError(
        f"set_data_dir is not supported, got {data_dir!r:.40}: named rules are a part of this library; "
        "pass others as a file with normalization_rule_tsv, or as a SentencePieceNormalizer"
    )


def convert_to_flatbuffer(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises `NotImplementedError`: only SentencePiece's own Lite library reads such files."""
    raise NotImplementedError(
        "convert_to_flatbuffer is not supported: use the package sentencepiece to write .spm.fb files"
    )
