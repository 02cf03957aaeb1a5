"""What the tests of the pack share."""

import json
import sys
from pathlib import Path

import pytest

# pytest's importlib mode puts nothing on the path, and tests import `rule_reader` and `local_copies`.
sys.path.append(str(Path(__file__).parent))

from local_copies import COPIES


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for GEM_DATA_DIR with a few rows of every data set of the pack, in gem-llm's columns."""
    root = tmp_path_factory.mktemp("copies")
    for (name, split), rows in COPIES.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return root
