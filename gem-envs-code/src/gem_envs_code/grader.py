"""The grader that the environments of this pack share: from a program to a reward."""

from collections.abc import Sequence

import gem_sandbox
from gem.core import Step
from gem.errors import ConfigError, Fault
from gem_envs_code.judge import Failure, judge
from gem_envs_code.languages import find_language
from gem_envs_code.report import report
from gem_envs_code.tasks import Task
from gem_sandbox.toolchains import tools_of


class Grader:
    """Runs programs in the sandbox that all environments of a process share.

    Args:
        language: the language of programs: see `gem_envs_code.languages`.
        partial: whether the reward is the share of tests passed; otherwise it is 1 for all of them and 0 for less, and
            the first failure decides.
        level, min_level: how to isolate programs: see `gem_envs_code.basics.Basics`.
        modules: modules that programs can import beside the standard library, and tests with assertions too.

    Raises:
        ConfigError: there is no such language or level, or the language needs a compiler that is not installed, or
            a module is not installed.
    """

    def __init__(
        self,
        *,
        language: str = "python",
        partial: bool = False,
        level: gem_sandbox.Level | None = None,
        min_level: gem_sandbox.Level = "landlock",
        modules: Sequence[str] = (),
    ) -> None:
        self.language = find_language(language)
        self.partial = partial
        if modules and language != "python":
            raise ConfigError(f"modules are for programs in Python, and the language is {language!r}")
        self.modules = modules
        self.failure: Failure | None = None
        """The first failure of the last program that was graded."""
        try:
            self.box = gem_sandbox.default(level, min_level, modules)
            tools_of(self.language.name)
        # As any setting that an environment refuses.
        except (gem_sandbox.ConfigError, gem_sandbox.ModuleMissing) as error:
            raise ConfigError(str(error)) from error

    def grade(self, program: str, task: Task) -> Step:
        """The last step of an episode. Its observation holds nothing that the program wrote or chose.

        Raises:
            ConfigError: no isolation works that is strong enough, or the language cannot run such tests.
            Fault: the sandbox failed, or a test, or the checker of the task.
        """
        stop = "timeout" if self.partial else "failure"
        try:
            passed, total, self.failure = judge(program, task, self.box, language=self.language.name, stop=stop)
        except gem_sandbox.SandboxUnavailable as error:
            raise ConfigError(str(error)) from error
        except gem_sandbox.SandboxLost as error:
            raise Fault(str(error)) from error
        if self.failure is None:
            many = f"all {total} tests" if total > 1 else "the test"
            return Step.final(f"Your program passed {many}.", 1.0, success=True)
        number, kind = self.failure.number, self.failure.kind
        if self.partial:
            message = f"Your program passed {passed} of {total} tests. The first to fail was test {number}: {kind}."
        else:
            message = f"Your program failed test {number} of {total}: {kind}."
        return Step.final(message, passed / total if self.partial else 0.0, success=False)

    def feedback(self, step: Step, *, shown: bool) -> str:
        """The text before another attempt; if `shown`, with the first failure of the last program."""
        return (
            report(self.failure) if shown and self.failure and "malformed" not in step.info else str(step.observation)
        )


def block(program: str, fence: str = "python") -> str:
    """A reply with a program."""
    return f"```{fence}\n{program.rstrip()}\n```"
