"""The image of examples/Dockerfile, where there is Docker: it is built, and its sandbox runs programs of the expert."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HAS_DOCKER = (
    shutil.which("docker") is not None
    and not subprocess.run(["docker", "info"], check=False, capture_output=True).returncode
)

pytestmark = [
    pytest.mark.full,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not HAS_DOCKER, reason="Docker does not run here"),
]


@pytest.fixture(scope="module")
def image() -> str:
    subprocess.run(["docker", "build", "-t", "gem-test", "-f", "examples/Dockerfile", "."], cwd=ROOT, check=True)
    return "gem-test"


@pytest.mark.parametrize("options", [[], ["--security-opt", "seccomp=unconfined"]])
def test_the_expert_of_a_code_env_solves_it_in_the_container(image: str, options: list[str]) -> None:
    command = [
        "docker",
        "run",
        "--rm",
        *options,
        image,
        "eval",
        "code:Basics-v0",
        "--model",
        "expert",
        "--episodes",
        "5",
    ]
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)

    assert json.loads(done.stdout)["ids"][0]["success"] == 1.0
