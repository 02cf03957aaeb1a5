"""The order of episodes that narrows the widest interval first."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping

from gem.episode import Start
from gem_eval.results import Tally
from gem_eval.results.intervals import wilson_interval


def widest_first(starts: Iterable[Start], tallies: Mapping[str, Tally], k: int = 1) -> Iterator[Start]:
    """The starts, each time those of the next item of the id whose 95% interval of success is the widest.

    The choice is made when a start is asked for, by the episodes that have ended until then. Those that are running
    count as if they succeeded as often; failed ones count as tries, so that an env that always fails does not take all.

    Args:
        starts: of all episodes; the k attempts at an item follow each other.
        tallies: id → its episodes so far, which grows meanwhile; one for each id of the starts.
        k: attempts at an item. They are alike, so they count as one try.
    """
    left: dict[str, deque[Start]] = {}
    for start in starts:
        left.setdefault(start.id or "", deque()).append(start)
    begun = Counter({id: len(tallies[id].starts) for id in left})

    def width(id: str) -> float:
        tally, tries = tallies[id], begun[id] / k
        sound = len(tally.starts) - len(tally.failed)
        low, high = wilson_interval((tally.won / sound if sound else 0.5) * tries, tries)
        return high - low

    while left:
        id = max(left, key=width)
        of_id = left[id]
        item = (of_id[0].seed, of_id[0].options)
        while of_id and (of_id[0].seed, of_id[0].options) == item:
            begun[id] += 1
            yield of_id.popleft()
        if not of_id:
            del left[id]
