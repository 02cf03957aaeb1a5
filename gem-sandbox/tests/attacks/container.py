"""The outer container: where every attack runs, with the sandbox and without it.

It is read-only but for a few small tmpfs, has no network but its own loopback, sees no process but its own, belongs to
a user id that no account has, and ends with us. `inside` adds limits on memory, processes, files and CPU time, and
runs nothing before it has seen that all of this holds.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import gem_sandbox

HERE = Path(__file__).resolve().parent
SOURCE = Path(gem_sandbox.__file__).resolve().parent.parent
HOME = "/home/agent"
MEGABYTE = 2**20
SIZES = {HOME: 512 * MEGABYTE, "/tmp": 512 * MEGABYTE, "/run": MEGABYTE}
"""The writable folders, and the bytes each can hold; /dev/shm is the fourth."""
SHARED_MEMORY = 512 * MEGABYTE
SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
ETC = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


def unavailable() -> str:
    """Why there can be no container here; empty if there can."""
    bwrap = shutil.which("bwrap")
    if sys.platform != "linux" or bwrap is None:
        return "the outer container needs Linux and bubblewrap (apt-get install bubblewrap)"
    tried = subprocess.run(
        [bwrap, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False
    )
    return f"bubblewrap does not work here: {tried.stderr.strip()}" if tried.returncode else ""


def start(arguments: Sequence[str], *, module: str = "inside", as_root: bool = False) -> subprocess.Popen[str]:
    """Run a module of `attacks` with these arguments; its standard output is a pipe.

    With `as_root`, which needs root here, the container's programs find themselves to be root, with many users at
    their disposal and not one privilege outside.
    """
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    secret = secrets.token_hex(8)
    prefixes = {os.path.realpath(sys.prefix), sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)}
    shown = [("/usr", "/usr")]
    shown += [(path, path) for path in sorted(prefixes) if not path.startswith("/usr")]
    shown += [(str(SOURCE), "/opt/source"), (str(HERE), "/opt/attacks/attacks")]
    links: list[str] = []
    for path in SYSTEM:
        if os.path.islink(path):
            links += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            shown.append((path, path))
    before = [bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "container"]
    before += ["--cap-add", "ALL"] if as_root else ["--uid", "1000", "--gid", "1000"]
    environ = {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"/opt/source:/opt/attacks:{HOME}/lib",
        "API_KEY": f"BAIT-env-{secret}",
    }
    for name, value in environ.items():
        before += ["--setenv", name, value]
    for path, size in SIZES.items():
        before += ["--size", str(size), "--tmpfs", path]
    before += [*links, "--proc", "/proc", "--dev", "/dev", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm"]
    before += [text for path in ETC for text in ("--ro-bind-try", path, path)]
    reading, writing = os.pipe()
    os.write(writing, f"agent:x:1000:1000:BAIT-passwd-{secret}:{HOME}:/bin/sh\n".encode())
    os.close(writing)
    before += ["--ro-bind-data", str(reading), "/etc/passwd"]
    after = ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    after += [sys.executable, "-m", f"attacks.{module}", f"BAIT-argv-{secret}", *arguments]
    plan = {
        "bwrap": bwrap,
        "as_root": as_root,
        "shown": shown,
        "before": before,
        "after": after,
        "environ": {"API_KEY": f"BAIT-init-{secret}"},
    }
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(HERE / "enter.py"), json.dumps(plan)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds=[reading],
            text=True,
        )
    finally:
        os.close(reading)
