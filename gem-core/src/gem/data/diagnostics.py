"""What `gemx doctor` says about data sets."""

import os
from importlib import metadata
from pathlib import Path

from gem.data.place import LOCAL_FOLDER, cache_folder
from gem.packs.hookspecs import Diagnostic


def diagnose() -> Diagnostic:
    """The version of `datasets`, and the folders in which rows are looked for."""
    try:
        status = f"datasets {metadata.version('datasets')}"
    except metadata.PackageNotFoundError:
        status = "JSON Lines only; for the hub, Parquet and CSV: pip install datasets"
    root = os.environ.get(LOCAL_FOLDER)
    missing = bool(root) and not Path(root).expanduser().is_dir()
    copies = f"{root}, which is not a folder" if missing else root or "not set"
    offline = next((name for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE") if os.environ.get(name)), None)
    details = [f"local copies: {LOCAL_FOLDER} is {copies}", f"downloads: {cache_folder()}"]
    if offline:
        details.append(f"{offline} is set: nothing is downloaded")
    details.append("`gemx data` says which data sets are here")
    return Diagnostic(status=status, ok=not missing, details=tuple(details))
