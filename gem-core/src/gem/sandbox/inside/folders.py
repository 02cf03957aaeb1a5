"""Removing what a program has left, however deep it lies and however locked it is."""

import os
import shutil
import tempfile


def remove(folder: str) -> None:
    """Remove a folder and all it holds, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except (OSError, RecursionError):
        _flatten(folder)
        os.rmdir(folder)


def _flatten(top: str) -> None:
    """Empty a folder whose paths may be longer than a path can be: what lies two deep is moved up, again and again."""
    while held := _entries(top):
        for entry in held:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            for inner in _entries(entry.path):
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, 0o700)
                    os.rename(inner.path, tempfile.mkdtemp(dir=top))
                else:
                    os.unlink(inner.path)
            os.rmdir(entry.path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    os.chmod(folder, 0o700)
    with os.scandir(folder) as found:
        return list(found)
