"""Speed of the games compared with gem-llm's: resets and steps per CPU-second.

    python benchmarks/games.py [--games Sokoban-v0-hard,Sudoku-v0-hard] [--repeats 3] [--json FILE]

Resets are measured alone, for at least half a second and one reset. Then both sides get the same actions, drawn at
random by our env and all well-formed; when an episode ends the next one begins. A run ends after 2,000 steps or, if
resets alone take seconds (gem-llm's Sokoban), at the end of the first episode after 10 seconds; time spent in resets is
left out. Numbers are medians of the repeats, in which the sides alternate; constructors are not counted. gem-llm's
word games download a list of words from NLTK; here they get ours instead. FifteenPuzzle-v0-random and
Crosswords-v0-random cannot be constructed in gem-llm.
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
RESETTING = 0.5
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
    """Resets per CPU-second of an env, and steps per CPU-second with these actions."""
    env.reset()
    resets, started = 0, time.process_time()
    while (resetting := time.process_time() - started) < RESETTING:
        resets += 1
        env.reset()
    reset = resetting / resets
    steps, spent, over = 0, 0.0, True
    started = late = time.monotonic() + SECONDS
    for action in actions:
        if over:
            if time.monotonic() > late:
                break
            env.reset()
            started = time.process_time()
        _, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
        if over:
            spent += time.process_time() - started
        steps += 1
    return 1 / reset, steps / (spent if over else spent + time.process_time() - started)


def sampled(id):
    """Well-formed actions, drawn by our env in one episode after another."""
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
    """Our words in the files of NLTK's corpus of words: the common ones as its Basic English."""
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
                asked = ask(pythons[side], __file__, "--play", module, f"game:{game}", str(file))
                rounds[side].append([float(speed) for speed in asked.split()])
                print(f"{game}, {side}: {asked}", file=sys.stderr)
        results[game] = {
            side: dict(zip(("resets", "steps"), map(statistics.median, zip(*speeds, strict=True)), strict=True))
            for side, speeds in rounds.items()
        }
    return {
        "python": platform.python_version(),
        "peer": PEERS["gem-llm"],
        "repeats": arguments.repeats,
        "per_cpu_second": results,
    }


def table(report):
    """The report as Markdown."""
    kinds = ("resets", "steps")
    columns = [f"{kind}: {column}" for kind in kinds for column in ("ours", "gem-llm", "ours / gem-llm")]
    lines = [f"| per CPU-second | {' | '.join(columns)} |", "|---" + "|--:" * len(columns) + "|"]
    for game, speeds in report["per_cpu_second"].items():
        cells = [game]
        for kind in kinds:
            ours, theirs = speeds["ours"][kind], speeds["gem-llm"][kind]
            cells += [f"{ours:,.0f}", f"{theirs:,.{0 if theirs > 10 else 1}f}", f"{ours / theirs:,.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--games", type=lambda text: text.split(","), default=GAMES)
    parser.add_argument("--play", nargs=3, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        module, id, file = arguments.play
        print(*play(importlib.import_module(module).make(id), json.loads(Path(file).read_text())))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
