"""Memory and time of a server's threads, by the limit of all caches: `make bench-many-threads`.

40 threads encode text that is different in each, as in a web framework that runs each request in a thread.
Fresh processes take turns: with the default limit, and without one. Counts are compared first.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

THREADS, TEXTS, WORDS = 40, 12, 15_000


def text_of(number: int) -> str:
    """Returns words that no other number has, about 150 KB of them."""
    import numpy as np

    letters = np.random.default_rng(number).integers(97, 123, 9 * WORDS, dtype=np.uint8).tobytes().decode()
    return " ".join(letters[start : start + 9] for start in range(0, len(letters), 9))


def work(limit: str) -> None:
    """Encodes in one process, and prints what it took."""
    import bytemill

    if limit == "none":
        bytemill.set_process_cache_limit(None)
    encoding = bytemill.get_encoding("o200k_base")
    texts = [[text_of(TEXTS * thread + i) for i in range(TEXTS)] for thread in range(THREADS)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        counts = list(pool.map(lambda own: sum(map(encoding.count, own)), texts))
    seconds = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"counts": sum(counts), "seconds": seconds, "megabytes": grown * 1024 / 1e6}))


def main() -> None:
    """Runs rounds of both, and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", choices=["default", "none"])
    arguments = parser.parse_args()
    if arguments.limit:
        return work(arguments.limit)
    runs: dict[str, list[dict[str, float]]] = {"default": [], "none": []}
    for _ in range(arguments.rounds):
        for limit, of_limit in runs.items():
            command = [sys.executable, __file__, "--limit", limit]
            of_limit.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    assert len({run["counts"] for of_limit in runs.values() for run in of_limit}) == 1
    for limit, of_limit in runs.items():
        seconds, megabytes = (
            statistics.median(run[key] for run in of_limit) for key in ("seconds", "megabytes")
        )
        print(f"limit {limit}: {seconds:.2f} s, {megabytes:.0f} MB more")
    pairs = zip(runs["default"], runs["none"], strict=True)
    ratio = statistics.median(first["seconds"] / second["seconds"] for first, second in pairs)
    print(f"time by default / without a limit: {ratio:.3f}")
    return None


if __name__ == "__main__":
    main()
