"""Settings of the tests of gem-train."""

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """A tiny model is faster on one thread, above all beside other tests."""
    torch.set_num_threads(1)
