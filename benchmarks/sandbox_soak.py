"""Runs 20,000 programs in gem_sandbox, two at a time, one in twenty of them an attack, and looks for leaks.

    python benchmarks/sandbox_soak.py [--runs 20000] [--level strongest] [--as-root] [--json FILE]

Every other program must give the right answer, the last thousand as fast as the first, and no process, thread,
descriptor or file may be left. The attacks are those of gem-sandbox/tests/attacks, and all of it runs in
their outer container, which needs bubblewrap. With `--as-root` the sandbox runs as root there.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "gem-sandbox" / "tests"))

from attacks import container


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--level", default="strongest")
    parser.add_argument("--as-root", action="store_true")
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    if reason := container.unavailable():
        sys.exit(reason)
    if arguments.as_root and os.geteuid() != 0:
        sys.exit("only root can make a container that has a root of its own")
    words = [arguments.level, str(arguments.runs)]
    with container.start(words, module="soak", as_root=arguments.as_root) as process:
        output = process.communicate()[0]
    if not output:
        sys.exit("the container ended without a report")
    text = json.dumps(json.loads(output), indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
