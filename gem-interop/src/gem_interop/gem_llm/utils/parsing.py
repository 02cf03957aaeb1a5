"""gem-llm's names of `gem.parsing`."""

from gem.parsing import boxed as extract_last_boxed_answer
from gem.parsing import fenced_code as extract_code_from_model
from gem.parsing import tagged as extract_last_tagged_answer

__all__ = ["extract_code_from_model", "extract_last_boxed_answer", "extract_last_tagged_answer"]
