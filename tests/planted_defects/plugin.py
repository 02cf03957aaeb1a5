"""The ids of the planted defects, and of their sound twins. Listing loads this module and no environment."""

from pathlib import Path

import gem

GEM_API = 1

HERE = Path(__file__).parent
TOOLS = ({"name": "tool_env"},)

PLANTED = {
    "floors": "NothingToDo MostlyB UnreadableIsRight MustInclude AnyChoicePays SameMaze AllListed ForgedVerdict",
    "leaks": "FormatHint ScoreTold TableInDescription StateInInfo ErrorTellsAll Checksum",
    "graders": "Substring EachIsIn NoSign LongIsRight NoCommas OrIsText ByteForByte",
    "rewards": "AgainAndAgain FallAtOnce AlmostPays WalledIn FourGuesses WholePage",
    "starts": "TwoConclusions FiveCopies",
    "machine": "Tomorrow Drifts PathInQuestion NeverDrawn EndsTheProcess",
    "programs_and_tools": "EqualToAll StatusZero TableInQuestion HistoryTool",
}
"""Module → the classes that have a defect. Two more are in families of ids: see below."""
SOUND = {
    "questions": "Sum Difference Quiz Words Primes Capitals",
    "games": "Guess Maze House",
    "tool_tasks": "Bays Orders Library",
    "programs": "Line",
}
WITH_TOOLS = ("NothingToDo", "TableInDescription", "TableInQuestion", "HistoryTool", "Bays", "Orders", "Library")


def _spec(name: str, entry_point: str, **kwargs: object) -> gem.EnvSpec:
    wrappers = TOOLS if entry_point.rpartition(":")[2] in WITH_TOOLS else ()
    return gem.EnvSpec(
        id=f"planted:{name}", entry_point=f"planted_defects.{entry_point}", kwargs=kwargs, wrappers=wrappers
    )


def _split(name: str, folder: str, split: str) -> gem.EnvSpec:
    data = {"name": str(HERE / folder), "split": split, "licence": "made up", "about": "waters of towns"}
    return _spec(f"{name}-v0-{split}", "questions:Capitals", data=data)


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    named = [
        _spec(f"{name}-v0", f"{module}:{name}")
        for module, names in [*PLANTED.items(), *SOUND.items()]
        for name in names.split()
    ]
    # Source of the overlap: https://github.com/huggingface/datasets/issues/4261, where samples of the split train are
    # in validation and test too. The folder brooks is its sound twin.
    splits = [
        _split(*each, split) for each in (("Rivers", "rivers"), ("Brooks", "brooks")) for split in ("train", "test")
    ]
    # The levels of Swapped are in the wrong order, those of Ordered are right. Source: made up.
    levels = [
        _spec(f"{name}-v0-{level}", "games:Guess", most=most, max_turns=8)
        for name, order in (("Swapped", (200, 60, 12)), ("Ordered", (12, 60, 200)))
        for level, most in zip(("easy", "medium", "hard"), order, strict=True)
    ]
    return [*named, *splits, *levels]
