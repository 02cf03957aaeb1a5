"""What `gemx doctor` says about PyTorch and the device."""

import sys
from pathlib import Path

import pytest
import torch

from gem.packs.importing import import_object
from gem_train.models import devices
from gem_train.plugin import gem_diagnostics


def test_the_diagnosis_has_the_versions_and_the_default_device() -> None:
    status = import_object(gem_diagnostics()["training"])().status

    assert status.startswith(f"PyTorch {torch.__version__}, transformers ")
    assert f", device {devices.find_device('auto')}" in status


def test_after_a_run_threads_and_deterministic_algorithms_are_as_before() -> None:
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()

    with devices.torch_settings(before[0] + 1):
        assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == (before[0] + 1, True)

    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before


def test_a_vllm_that_does_not_fit_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diagnose = import_object(gem_diagnostics()["vllm"])
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    metadata = tmp_path / "vllm-9.9.dist-info" / "METADATA"
    metadata.parent.mkdir()

    metadata.write_text("Name: vllm\nVersion: 9.9\nRequires-Dist: torch>=2\nRequires-Dist: nobody==1\n")
    assert diagnose().ok
    assert diagnose().status.startswith("vllm 9.9")

    metadata.write_text("Name: vllm\nVersion: 9.9\nRequires-Dist: torch==1.0\n")
    assert diagnose().details == (f"vLLM wants torch==1.0, and {torch.__version__} is installed",)
    assert not diagnose().ok


def test_a_gpu_that_pytorch_cannot_use_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "DRIVER", tmp_path / "version")
    assert devices.diagnose().ok

    (tmp_path / "version").touch()
    found = devices.diagnose()

    assert found.ok == torch.cuda.is_available()
    assert ("cannot use the NVIDIA GPU" in "".join(found.details)) != torch.cuda.is_available()
