"""`gemx play`: play an environment in the terminal."""

import contextlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from gem import answers, seeding
from gem.cli.options import Seed, arguments, parse_arguments, parse_wrappers, tool_arguments, tools, wrappers
from gem.cli.output import as_text, echo, print_text
from gem.core import Env, Step
from gem.episode import Completion, Episode, Start, Turn
from gem.episode.episode import total
from gem.packs.make import make
from gem.record import Recorder
from gem.rollout.running import RunningEpisode
from gem.rollout.transcript import Transcript
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
    seed = seeding.fresh() % 10**6 if seed is None else seed  # a person may type it again
    layers = parse_wrappers(wrappers, tools, tool_arguments)
    if record:
        _check_writable(record)
    with make(id, wrappers=layers, **parse_arguments(arguments)) as env:
        assert env.spec is not None
        running = RunningEpisode(Start(seed, env.spec.id), env.spec, sys.maxsize)
        observation, info = env.reset(seed=seed)
        running.stepped(Step.ongoing(observation, **info), None)
        echo(f"{id}, seed {seed}\nType :help for the commands.\n", dim=True)
        print_text(as_text(observation))
        hints: list[int] = []
        while (action := _next_action(env, transcript := _transcript(running), hints)) is not None:
            running.said(Completion(action))
            step = env.step(action)
            episode = running.stepped(step, None)
            echo(f"\nreward {step.reward:g}", dim=True)
            print_text(as_text(step.observation))
            if episode is not None:
                _print_outcome(episode)
                if record:
                    with Recorder(record, policy=HUMAN) as recorder:
                        recorder.write(episode, {"hints": len(set(hints))} if hints else None)
                    echo(f"The episode is in {record}: `gemx view {record}` shows it.", dim=True)
                return
    echo(
        f"\nLeft after {_count(transcript.turns)}, return {total(turn.reward for turn in transcript.turns):g}.",
        dim=True,
    )
    if record:
        echo(f"Nothing was written to {record}: the episode had not ended.", err=True)


def _transcript(running: RunningEpisode) -> Transcript:
    assert running.transcript is not None
    return running.transcript


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
    if answers.boxed(example) is not None:
        return f"\\boxed{{{typed}}}"
    if answers.tagged(example) is not None:
        return f"<answer>{typed}</answer>"
    if answers.fenced_code(example) is not None:
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


def _print_outcome(episode: Episode) -> None:
    success = episode.success
    outcome = "Success" if success else "The turn limit was reached" if episode.truncated else "No success"
    told = f"{_count(episode.turns)}, return {episode.total_reward:g}"
    echo(f"\n{outcome}: {told}.", fg="green" if success else "red")


def _check_writable(path: Path) -> None:
    """Say what is wrong with the file before an episode is played, which would be lost."""
    new = not path.exists()
    Recorder(path).close()
    if new:
        path.unlink()


def _count(turns: Sequence[Turn]) -> str:
    return "1 turn" if len(turns) == 1 else f"{len(turns)} turns"
