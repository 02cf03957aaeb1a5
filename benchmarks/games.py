"""The games beside gem-llm's: steps per CPU-second, episodes' starts included.

    python benchmarks/games.py [--games Sokoban-v0-hard,Sudoku-v0-hard] [--repeats 3] [--json FILE]

Both sides are given the same actions, which were drawn at random on our side, well-formed each of them; whenever an
episode ends the next begins. A run ends after 2,000 steps, or, where one start alone takes seconds (gem-llm's Sokoban),
after the first episode for which 10 seconds were not enough. Numbers are medians of the repeats, in which the sides
take turns; constructors are not counted. gem-llm's games of words want a list from NLTK, which is a download: they get
ours instead. FifteenPuzzle-v0-random and Crosswords-v0-random cannot be constructed there.
"""

import importlib
import json
import os
import platform
import statistics
import sys
import time
from argparse import SUPPRESS
from pathlib import Path

from peers import PEERS, ask, options, python_of, show

SIDES = {"ours": "sides.ours", "gem-llm": "sides.gem_llm"}
STEPS = 2000
SECONDS = 10
FAMILIES = {
    "GuessTheNumber": ("easy", "hard", "random"),
    "Mastermind": ("easy", "hard", "random"),
    "Minesweeper": ("easy", "hard", "random"),
    "Wordle": ("easy", "hard", "random"),
    "FifteenPuzzle": ("easy", "hard"),
    "Hangman": ("easy", "hard", "random"),
    "Sudoku": ("easy", "hard", "random"),
    "TowerofHanoi": ("easy", "hard", "random"),
    "Game2048": ("easy", "hard", "extreme-hard", "random"),
    "Sokoban": ("easy", "hard", "random"),
    "Crosswords": ("easy", "hard"),
    "WordSearch": ("easy", "hard", "random"),
}
GAMES = [f"{family}-v0-{variant}" for family, variants in FAMILIES.items() for variant in variants]


def play(env, actions):
    """Steps per CPU-second of an env that is given these actions."""
    steps = 0
    # Asked for at every episode, processor time would cost more than a short one.
    started, late = time.process_time(), time.monotonic() + SECONDS
    over = True
    for action in actions:
        if over:
            if time.monotonic() > late:
                break
            env.reset()
        _, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
        steps += 1
    return steps / (time.process_time() - started)


def sampled(id):
    """Well-formed actions, as our env draws them along an episode after another."""
    import gem

    actions = []
    with gem.make(id) as env:
        env.reset(seed=0)
        while len(actions) < STEPS:
            actions.append(env.sample_action())
            if env.step(actions[-1]).done:
                env.reset()
    return actions


def words_for_nltk(folder):
    """Our words, laid out as NLTK's corpus of words is: the common ones are its Basic English."""
    from gem_envs_games import words

    corpus = folder / "nltk_data" / "corpora" / "words"
    corpus.mkdir(parents=True, exist_ok=True)
    lengths = range(words.SHORTEST, words.LONGEST + 1)
    for name, known in (("en-basic", words.common_words), ("en", words.known_words)):
        corpus.joinpath(name).write_text("\n".join(word.lower() for n in lengths for word in known(n)))
    corpus.joinpath("README").write_text("")
    return corpus.parent.parent


def run(arguments):
    """Every number, by game and side."""
    pythons = {"ours": sys.executable, "gem-llm": python_of("gem-llm", arguments.venv_dir)}
    os.environ["NLTK_DATA"] = str(words_for_nltk(arguments.venv_dir))
    file = arguments.venv_dir / "actions.json"
    results = {}
    for game in arguments.games:
        file.write_text(json.dumps(sampled(f"game:{game}")))
        rounds = {side: [] for side in SIDES}
        for _ in range(arguments.repeats):
            for side, module in SIDES.items():
                rounds[side].append(float(ask(pythons[side], __file__, "--play", module, f"game:{game}", str(file))))
                print(f"{game}, {side}: {rounds[side][-1]:,.1f}", file=sys.stderr)
        results[game] = {side: statistics.median(speeds) for side, speeds in rounds.items()}
    return {
        "python": platform.python_version(),
        "peer": PEERS["gem-llm"],
        "repeats": arguments.repeats,
        "steps_per_cpu_second": results,
    }


def table(report):
    """The report as Markdown."""
    lines = ["| steps per CPU-second | ours | gem-llm | ours / gem-llm |", "|---|--:|--:|--:|"]
    for game, speeds in report["steps_per_cpu_second"].items():
        ours, theirs = speeds["ours"], speeds["gem-llm"]
        lines.append(f"| {game} | {ours:,.0f} | {theirs:,.{0 if theirs > 10 else 1}f} | {ours / theirs:,.1f} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--games", type=lambda text: text.split(","), default=GAMES)
    parser.add_argument("--play", nargs=3, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        module, id, file = arguments.play
        print(play(importlib.import_module(module).make(id), json.loads(Path(file).read_text())))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
