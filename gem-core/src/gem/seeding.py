"""Seeds: any number of independent and reproducible random streams from one seed of a run.

Seeds are derived, not drawn: `derive(seed, "train", step, i)` is the same number in every process,
thread and order, so a run that resumes at step 70 needs no saved generator to know the seeds of step 70.
"""

import hashlib
import secrets
from operator import index

from gem.checks import is_int

SEED_BITS = 63
"""Seeds are below 2**63, so they fit a signed 64-bit integer of any other library."""
SEEDS = 1 << SEED_BITS
"""How many seeds there are."""


def derive(seed: int, *path: str | int) -> int:
    """A seed for the stream at `path` below `seed`, which any integer may be; distinct paths give independent seeds.

    >>> derive(0, "train", 3) == derive(0, "train", 3)
    True
    >>> derive(0, "train", 3) == derive(0, "train", 4)
    False
    """
    # The repr of a NumPy integer differs from that of the int it equals.
    text = repr((index(seed), *(part if isinstance(part, str) else int(part) for part in path)))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - SEED_BITS)


def fresh() -> int:
    """A seed from the operating system, for callers who gave none."""
    return secrets.randbits(SEED_BITS)


def check_seed(seed: int) -> int:
    """`seed` itself if it is an integer from 0 to 2**63 - 1; else `TypeError` or `ValueError`.

    `random.Random(-1)` and `random.Random(1)` would give the same numbers.
    """
    if type(seed) is int and 0 <= seed < SEEDS:
        return seed
    if not is_int(seed):
        raise TypeError(f"a seed must be an integer, not {seed!r}")
    value = int(seed)
    if not 0 <= value < SEEDS:
        raise ValueError(f"a seed is between 0 and 2**{SEED_BITS} - 1, not {seed}")
    return value
