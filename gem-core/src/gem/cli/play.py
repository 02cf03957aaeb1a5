"""`gemx play`: play an environment in the terminal."""

import contextlib
import re
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from gem import parsing, seeding
from gem.cli.options import Seed, arguments, parse_arguments, parse_wrappers, tool_arguments, tools, wrappers
from gem.cli.output import as_text, echo, print_text
from gem.core import Env, Step
from gem.packs.make import make
from gem.record import Recorder
from gem.rollout.transcript import Completion, Episode, Transcript
from gem.wrappers.tool_env import tool_envs

FENCE = "```"
HUMAN = "human"
"""The policy in recordings of people."""
_OPENING = re.compile(r"`{3,}|~{3,}")
NO_HINT = "There is no hint: this environment does not have an expert, or it does not know what to say here."
HELP = """\
:hint        what the environment's expert would say
:random      play a random action
:history     show the episode so far
:raw TEXT    say TEXT exactly as it is
:quit        leave (so does Ctrl-D)
"""


@click.command()
@click.argument("id")
@click.option("--seed", type=Seed(), help="The episode to play; without it, any.")
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append the episode to FILE when it has ended, with the number of turns with a :hint.",
)
@tools
@tool_arguments
@wrappers
@arguments
def play(
    id: str,
    seed: int | None,
    record: Path | None,
    tools: str,
    tool_arguments: Sequence[str],
    wrappers: str,
    arguments: Sequence[str],
) -> None:
    """Play the environment ID yourself.

    Type your whole reply, or only the answer: it is put into the \\boxed{}, <answer> tags or code fence that the
    environment reads, unless you typed one. A line that begins with ``` is continued up to the closing ```. With
    --tools, what reads as a call is one. Type :help for more.
    """
    if sys.stdin.isatty():
        # Makes the line of input() editable, where it exists.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]
    seed = seeding.fresh() if seed is None else seed
    layers = parse_wrappers(wrappers, tools, tool_arguments)
    if record:
        _check_writable(record)
    with make(id, wrappers=layers, **parse_arguments(arguments)) as env:
        started, clock = datetime.now(UTC), time.perf_counter()
        transcript = Transcript(*env.reset(seed=seed))
        echo(f"{id}, seed {seed}\nType :help for the commands.\n", dim=True)
        print_text(as_text(transcript.observation))
        hints: list[int] = []
        while (action := _next_action(env, transcript, hints)) is not None:
            step = env.step(action)
            transcript.add(Completion(action), step.reward, step.observation, step.info)
            echo(f"\nreward {step.reward:g}", dim=True)
            print_text(as_text(step.observation))
            if step.done:
                _print_outcome(step, transcript)
                if record:
                    seconds = time.perf_counter() - clock
                    _record(record, env, seed, transcript, step, started, seconds, len(set(hints)))
                return
    echo(f"\nLeft after {_count(transcript)}, return {_total(transcript):g}.", dim=True)
    if record:
        echo(f"Nothing was written to {record}: the episode had not ended.", err=True)


def _next_action(env: Env, transcript: Transcript, hints: list[int]) -> str | None:
    """The reply that was typed, in the form that `env` reads; None to leave. Turns with a hint go into `hints`."""
    while (line := _read("> ")) is not None:
        command, _, rest = line.lstrip().partition(" ")
        match command.rstrip():
            case ":quit":
                return None
            case ":help":
                echo(HELP, nl=False)
            case ":hint":
                if (hint := env.expert_action()) is not None:
                    hints.append(len(transcript.turns))
                echo(hint or NO_HINT)
            case ":history":
                _print_history(transcript)
            case ":random":
                action = env.sample_action()
                echo(action)
                return action
            case ":raw":
                return rest
            case _ if command.startswith(":"):
                echo(f"Unknown command {command}. Type :help, or :raw {command} to send it as a reply.")
            case _:
                typed = _rest_of_block(line)
                is_call = any(each.is_tool_call(typed) for each in tool_envs(env))
                return typed if is_call else complete(typed, env.unwrapped.sample_action())
    return None


def complete(typed: str, example: str) -> str:
    r"""`typed` in the markup of `example`, a well-formed action, unless it has `\boxed{`, `<answer>` or a fence."""
    if any(mark in typed for mark in ("\\boxed{", "\\fbox{", "<answer>", FENCE, "~~~")):
        return typed
    if parsing.boxed(example) is not None:
        return f"\\boxed{{{typed}}}"
    if parsing.tagged(example) is not None:
        return f"<answer>{typed}</answer>"
    if parsing.fenced_code(example) is not None:
        return f"{FENCE}\n{typed}\n{FENCE}"
    return typed


def _rest_of_block(line: str) -> str:
    """`line`, with the following lines if it opens a code fence."""
    lines = [line]
    if opening := _OPENING.match(line):
        while (more := _read("... ")) is not None:
            lines.append(more)
            if more.startswith(opening[0]):
                break
    return "\n".join(lines)


def _read(prompt: str) -> str | None:
    try:
        line = input(prompt)
    except EOFError:
        echo()
        return None
    except KeyboardInterrupt:
        echo()  # before the prompt of the shell
        raise
    if not sys.stdin.isatty():
        echo(line)
    return line


def _print_history(transcript: Transcript) -> None:
    for turn in transcript.turns:
        print_text(as_text(turn.observation))
        echo(f"> {turn.action}")
        echo(f"\nreward {turn.reward:g}", dim=True)
    print_text(as_text(transcript.observation))


def _print_outcome(step: Step, transcript: Transcript) -> None:
    success = bool(step.info["success"])
    outcome = "Success" if success else "The turn limit was reached" if step.truncated else "No success"
    echo(f"\n{outcome}: {_count(transcript)}, return {_total(transcript):g}.", fg="green" if success else "red")


def _check_writable(path: Path) -> None:
    """Say what is wrong with the file before an episode is played, which would be lost."""
    new = not path.exists()
    Recorder(path).close()
    if new:
        path.unlink()


def _record(
    path: Path,
    env: Env,
    seed: int,
    transcript: Transcript,
    step: Step,
    started: datetime,
    seconds: float,
    hints: int,
) -> None:
    assert env.spec is not None
    episode = Episode(
        id=env.spec.id,
        seed=seed,
        group=0,
        turns=tuple(transcript.turns),
        observation=step.observation,
        terminated=step.terminated,
        truncated=step.truncated,
        success=bool(step.info["success"]),
        spec=env.spec,
        started=started,
        seconds=seconds,
    )
    with Recorder(path, policy=HUMAN) as recorder:
        recorder.write(episode, {"hints": hints} if hints else None)
    echo(f"The episode is in {path}: `gemx view {path}` shows it.", dim=True)


def _total(transcript: Transcript) -> float:
    return sum(turn.reward for turn in transcript.turns)


def _count(transcript: Transcript) -> str:
    turns = len(transcript.turns)
    return "1 turn" if turns == 1 else f"{turns} turns"
