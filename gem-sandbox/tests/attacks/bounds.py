"""The limits that the outer container adds, and proof that it is one."""

import os
import resource
from pathlib import Path

MEGABYTE = 2**20
LIMITS = {
    resource.RLIMIT_AS: 3 * 1024 * MEGABYTE,
    resource.RLIMIT_CPU: 600,
    resource.RLIMIT_FSIZE: 512 * MEGABYTE,
    resource.RLIMIT_NPROC: 400,
    resource.RLIMIT_NOFILE: 4096,
    resource.RLIMIT_CORE: 0,
}
MOST_WRITABLE = 512 * MEGABYTE
"""Bytes that any one writable file system may hold."""
READ_ONLY = ("/", "/usr", "/dev", "/opt/source", "/etc")
UNBOUNDED = ("proc", "devpts", "mqueue", "sysfs")
"""File systems that hold no data."""


def limit() -> None:
    """For this process and all that it starts; they cannot be raised again."""
    for which, most in LIMITS.items():
        resource.setrlimit(which, (most, most))


def holes() -> list[str]:
    """What is missing from the container, in words; nothing dangerous may run unless this is empty."""
    found = [f"limit {which} is not set" for which, most in LIMITS.items() if resource.getrlimit(which) != (most, most)]
    found += [f"{path} can be written to" for path in READ_ONLY if _writable(path)]
    if os.stat("/usr").st_uid != int(Path("/proc/sys/kernel/overflowuid").read_text()):
        found.append("root outside is one of our users")
    devices = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    if devices != ["lo"]:
        found.append(f"there are network devices: {devices}")
    if len([name for name in os.listdir("/proc") if name.isdigit()]) > 3:
        found.append("there are processes of others")
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        path, options = fields.split()[4:6]
        kind = rest.split()[0]
        if options.startswith("rw") and kind not in UNBOUNDED and not path.startswith("/dev/"):
            space = os.statvfs(path)
            if space.f_blocks * space.f_frsize > MOST_WRITABLE and "ro" not in rest.split()[2].split(","):
                found.append(f"{path} has no bound")
    shared = os.statvfs("/dev/shm")
    if shared.f_blocks * shared.f_frsize > MOST_WRITABLE:
        found.append("/dev/shm has no bound")
    return found


def _writable(path: str) -> bool:
    probe = os.path.join(path, "gem-probe")
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_WRONLY))
    except OSError:
        return False
    os.unlink(probe)
    return True
