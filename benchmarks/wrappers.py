"""Cost of the history wrappers, compared with gem-llm's on the same env in the same run.

    python benchmarks/wrappers.py [--repeats 3] [--json FILE]

gem-llm (whose package is called `gem` as well) is installed from PyPI into a virtual environment of its own under the
system's temporary folder, and kept there for the next run. Both sides play an env that does nothing but show a text,
inside the wrapper of the same name; both end with the same string, which is checked. Times are CPU seconds of an
episode: the median of the repeats, in which the sides take turns, of the median of some episodes in one process. The
loop keeps the previous observation, as an agent does that answers it; "all kept" keeps every observation, as a trainer
does that stores them.
"""

import hashlib
import json
import platform
import statistics
import sys
import time
from argparse import SUPPRESS

from peers import PEERS, ask, options, python_of, show

SIDES = ("ours", "gem-llm")
TURNS = 1000
EPISODES = 5
CASES = {
    "no wrapper": {"wrapper": None},
    "concat": {"wrapper": "concat"},
    "concat, all kept": {"wrapper": "concat", "keep": True},
    "concat, observations of 1,000 characters": {"wrapper": "concat", "length": 1000},
    "concat_with_action": {"wrapper": "concat_with_action"},
    "concat_chat, a template that joins": {"wrapper": "concat_chat"},
    "concat_chat_on_reset": {"wrapper": "concat_chat_on_reset"},
    "episode_tracking": {"wrapper": "episode_tracking"},
}
LENGTH = 60
"""Characters of an observation, where a case does not say: about what a game says to a move."""


class Tokenizer:
    """The cheapest chat template there can be."""

    def apply_chat_template(self, conversation, *, tokenize, add_generation_prompt):
        return "".join([f"<{message['role']}>{message['content']}" for message in conversation])


def build_ours(wrapper, text):
    from gem.core import Env, Step
    from gem.wrappers import Concat, ConcatChat, ConcatChatOnReset, ConcatWithAction, EpisodeTracking

    class Text(Env):
        def reset(self, *, seed=None, options=None):
            return text, {}

        def step(self, action):
            return Step(text, 0.0, False, False, {})

        def sample_action(self):
            return "on"

    return {
        None: lambda env: env,
        "concat": Concat,
        "concat_with_action": ConcatWithAction,
        "concat_chat": lambda env: ConcatChat(env, Tokenizer()),
        "concat_chat_on_reset": lambda env: ConcatChatOnReset(env, Tokenizer()),
        "episode_tracking": EpisodeTracking,
    }[wrapper](Text())


def build_theirs(wrapper, text):
    from gem.core import Env
    from gem.wrappers.episode_tracking_wrapper import EpisodeTrackingWrapper
    from gem.wrappers.observation_wrapper import ObservationWrapper

    class Text(Env):
        def reset(self, seed=None):
            return text, {}

        def step(self, action):
            return text, 0.0, False, False, {}

    def history(**settings):
        settings = {"include_action": True, "include_chat_template": False, "tokenizer": Tokenizer(), **settings}
        return lambda env: ObservationWrapper(env, **settings)

    return {
        None: lambda env: env,
        "concat": history(include_action=False),
        "concat_with_action": history(),
        "concat_chat": history(include_chat_template=True),
        "concat_chat_on_reset": history(apply_chat_template_on_reset=True),
        "episode_tracking": EpisodeTrackingWrapper,
    }[wrapper](Text())


def episode(env, keep):
    """CPU seconds of one episode, and its last observation."""
    kept = []
    start = time.process_time()
    observation, _ = env.reset(seed=0)
    for _ in range(TURNS):
        observation, *_ = env.step("on")
        if keep:
            kept.append(observation)
    return time.process_time() - start, observation


def measure(side):
    """Median CPU seconds of an episode of each case, and a digest of its last observation."""
    build = build_ours if side == "ours" else build_theirs
    results = {}
    for case, settings in CASES.items():
        env = build(settings["wrapper"], "x" * settings.get("length", LENGTH))
        played = [episode(env, settings.get("keep", False)) for _ in range(EPISODES)]
        results[case] = {
            "seconds": statistics.median(seconds for seconds, _ in played),
            "digest": hashlib.sha256(played[-1][1].encode()).hexdigest(),
        }
    return results


def run(arguments):
    """Median seconds by case and side, and whether both sides ended with the same string."""
    pythons = {"ours": sys.executable, "gem-llm": python_of("gem-llm", arguments.venv_dir)}
    rounds = {side: [] for side in SIDES}
    for _ in range(arguments.repeats):
        for side in SIDES:
            rounds[side].append(json.loads(ask(pythons[side], __file__, "--side", side)))
    results = {}
    for case in CASES:
        medians = {side: statistics.median(each[case]["seconds"] for each in rounds[side]) for side in SIDES}
        digests = {each[case]["digest"] for side in SIDES for each in rounds[side]}
        results[case] = {"seconds": medians, "same_text": len(digests) == 1}
    return {
        "turns": TURNS,
        "repeats": arguments.repeats,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "peer": PEERS["gem-llm"],
        "cases": results,
    }


def table(report):
    """The report as Markdown."""
    lines = [
        f"{report['turns']} turns; microseconds of CPU a step, env included (steps per CPU-second in brackets)",
        "",
        "| wrapper | ours | gem-llm | gem-llm ÷ ours | same string |",
        "|---|--:|--:|--:|:-:|",
    ]
    for case, result in report["cases"].items():
        cells = [
            f"{1e6 * seconds / report['turns']:.2f} ({report['turns'] / seconds:,.0f})"
            for seconds in result["seconds"].values()
        ]
        ratio = result["seconds"]["gem-llm"] / result["seconds"]["ours"]
        same = "yes" if result["same_text"] else "NO"
        lines.append(f"| {case} | {' | '.join(cells)} | {ratio:.1f} | {same} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--side", choices=SIDES, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(measure(arguments.side)))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
