"""Every attack, by name."""

from attacks import disk, files, interpreter, kernel, network, others, resources, verdicts

GROUPS = {
    "Files": files.ATTACKS,
    "The disk": disk.ATTACKS,
    "Other processes": others.ATTACKS,
    "Sockets and shared memory": network.ATTACKS,
    "Exhausting resources": resources.ATTACKS,
    "The kernel": kernel.ATTACKS,
    "The interpreter, and the next program": interpreter.ATTACKS,
    "The grader": verdicts.ATTACKS,
}
ALL = tuple(attack for group in GROUPS.values() for attack in group)
BY_NAME = {attack.name: attack for attack in ALL}
