"""The error of a grader that failed."""

from gem.errors import Fault


class GraderFailed(Fault):
    """The grader itself failed, so whether the answer is right is not known. It is not a wrong answer."""
