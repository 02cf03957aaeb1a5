"""Makes ready what pytest makes of each test file, on all cores: its assertions, which say what they compared.

    python .ci/rewrite.py FOLDER...

Otherwise each worker of `pytest -n 4` does it for every file of a fresh clone, which takes longer than importing them.
pytest has no public call for it, so the names are its own; without these files a run is slower and otherwise the same.
"""

import multiprocessing
import sys
from collections.abc import Iterable
from pathlib import Path

from _pytest.assertion import rewrite
from _pytest.config import _prepareconfig


def write(files: Iterable[Path]) -> None:
    config = _prepareconfig(["--noconftest"])
    for file in files:
        cache = rewrite.get_cache_dir(file)
        rewrite.try_makedirs(cache)
        pyc = cache / (file.stem + rewrite.PYC_TAIL)
        if rewrite._read_pyc(file, pyc) is None:
            digest, code = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, pyc)


if __name__ == "__main__":
    found = [file for folder in sys.argv[1:] for file in Path(folder).resolve().rglob("*.py")]
    # What is in the folder of a template becomes a part of each pack that is made from it.
    files = sorted(file for file in found if "templates" not in file.parts)
    cores = multiprocessing.cpu_count()
    with multiprocessing.Pool(cores) as pool:
        pool.map(write, [files[core::cores] for core in range(cores)], chunksize=1)
