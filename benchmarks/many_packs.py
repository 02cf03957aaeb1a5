"""Time of a fresh process in an environment with many packs, some of them broken.

    python benchmarks/many_packs.py [--packs 200] [--repeats 5] [--json FILE]

Writes packs of five ids each as pip would leave them, three of them broken, beside the packs that are installed. Wall
and CPU seconds of whole processes, the start of Python included, and of the first `gem.make` in one of them; medians.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers import options, show

IDS = 5
BROKEN = {
    "raises": "raise RuntimeError('the moon is not full')",
    "old": "GEM_API = 0",
    "thief": """
import gem

GEM_API = 1

@gem.hookimpl
def gem_envs():
    return [gem.EnvSpec(id="core:Echo-v0", entry_point="a:B")]
""",
}
"""Plugin modules that cannot be loaded."""

PLUGIN = '''
"""The specs of this pack."""
import gem

GEM_API = 1

@gem.hookimpl
def gem_envs():
    return [
        gem.EnvSpec(
            id=f"{namespace}:Coin{{number}}-v0",
            entry_point="{module}.env:Coin",
            kwargs={{"side": number}},
            description="Call a coin",
            tags=("luck", "single-turn"),
        )
        for number in range({ids})
    ]
'''
ENV = '''
import gem

class Coin(gem.TurnEnv):
    """Call a coin. One turn."""

    def __init__(self, side=0, max_turns=None):
        super().__init__(max_turns=max_turns)
        self.side = side

    def _reset(self, options):
        return "Call a coin."

    def _step(self, action):
        return gem.Step.final("It is over.", float(action == "heads"), success=action == "heads")

    def sample_action(self):
        return self.action_rng.choice(["heads", "tails"])
'''

MAKE = """
import json, sys, time
import gem
started, cpu = time.perf_counter(), time.process_time()
gem.make({id!r})
seconds = [time.perf_counter() - started, time.process_time() - cpu]
imported = [name for name in sys.modules if name.startswith("gem_envs_many") and name.endswith(".plugin")]
print(json.dumps({{"seconds": seconds, "imported": imported}}))
"""
"""A program that says how long `gem.make` takes, and which plugin modules it imports."""


def write_packs(site: Path, count: int) -> dict[str, str]:
    """Put packs into a folder of installed packages; the last ones are broken. Returns distribution → namespace."""
    faults = dict(zip(range(count - len(BROKEN), count), BROKEN.values(), strict=True))
    packs = {}
    for number in range(count):
        namespace = f"many{number:03}"
        module, name = f"gem_envs_{namespace}", f"gem-envs-{namespace}"
        plugin = faults.get(number) or PLUGIN.format(namespace=namespace, module=module, ids=IDS)
        files = {
            f"{module}/__init__.py": "",
            f"{module}/plugin.py": plugin,
            f"{module}/env.py": ENV,
            f"{module}-1.2.3.dist-info/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.2.3\n",
            f"{module}-1.2.3.dist-info/entry_points.txt": f"[gem.packs]\n{namespace} = {module}.plugin\n",
            f"{module}-1.2.3.dist-info/INSTALLER": "pip\n",
            f"{module}-1.2.3.dist-info/RECORD": f"{module}/__init__.py,,\n{module}/plugin.py,,\n{module}/env.py,,\n",
        }
        for path, text in files.items():
            (site / path).parent.mkdir(exist_ok=True)
            (site / path).write_text(text, "utf-8")
        packs[name] = namespace
    return packs


def timed(*command: str, path: Path) -> tuple[list[float], subprocess.CompletedProcess[str]]:
    """Wall and CPU seconds of a process with one more folder of installed packages."""
    environ = os.environ | {"PYTHONPATH": str(path)}
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *command], env=environ, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return [wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime], done


def run(arguments) -> dict:
    """Median seconds and what was imported, with the packs and without."""
    seconds = {"`gemx list` without them": [], "`gemx list`": [], "`gem.make` of one id": []}
    with tempfile.TemporaryDirectory() as folder:
        many, none = Path(folder) / "many", Path(folder) / "none"
        many.mkdir()
        none.mkdir()
        packs = write_packs(many, arguments.packs)
        make = MAKE.format(id=f"{list(packs.values())[arguments.packs // 2]}:Coin3-v0")
        for _ in range(arguments.repeats + 1):
            seconds["`gemx list` without them"].append(timed("-m", "gem", "list", path=none)[0])
            listed, shown = timed("-m", "gem", "list", path=many)
            seconds["`gemx list`"].append(listed)
            answer = json.loads(timed("-c", make, path=many)[1].stdout)
            seconds["`gem.make` of one id"].append(answer["seconds"])
    return {
        "python": platform.python_version(),
        "packs": arguments.packs,
        "ids": shown.stdout.count(":Coin"),
        "named": sum(name in shown.stderr for name in packs),
        "imported": answer["imported"],
        # The first round also compiles.
        "seconds": {
            name: [statistics.median(kind) for kind in zip(*each[1:], strict=True)] for name, each in seconds.items()
        },
    }


def table(report: dict) -> str:
    """The report as Markdown."""
    title = f"{report['packs']} packs with {report['ids']} ids, {report['named']} broken ones named"
    lines = [f"| {title} | s | s of CPU |", "|---|--:|--:|"]
    lines += [f"| {name} | {wall:.2f} | {cpu:.2f} |" for name, (wall, cpu) in report["seconds"].items()]
    return "\n".join([*lines, "", f"`gem.make` imports {', '.join(report['imported'])}."])


def main() -> None:
    parser = options(__doc__.splitlines()[0], repeats=5)
    parser.add_argument("--packs", type=int, default=200, help="at least 3  [default: 200]")
    arguments = parser.parse_args()
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
