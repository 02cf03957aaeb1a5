"""Arguments that make no sense are refused with one clear error, before any program runs."""

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sandbox_levels

import gem_sandbox as sandbox
from gem_sandbox import Job, Limits, Sandbox
from gem_sandbox.errors import ConfigError

MIB = 1 << 20
WHOLE = ("memory", "output", "disk", "inodes", "threads", "open_files")

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "an unknown limit": (lambda: sandbox.run("", memry=3), "no limit 'memry'. Did you mean 'memory'"),
    "a limit like nothing": (lambda: sandbox.run("", xyz=3), "The limits are timeout, wall"),
    "an unknown argument": (lambda: sandbox.run("", stdn="x"), "Did you mean 'stdin'"),
    "memory in words": (lambda: sandbox.run("", memory="1G"), "memory, in bytes, must be"),
    "no timeout": (lambda: sandbox.run("", timeout=None), "timeout is a number"),
    "a level": (lambda: sandbox.run("", level="landlok"), "Did you mean 'landlock'"),  # pyright: ignore
    "a list of levels": (lambda: sandbox.run("", level=["unshare"]), "level is one of"),  # pyright: ignore
    "no min_level": (lambda: sandbox.run("", min_level=None), "min_level is one of"),  # pyright: ignore
    "a level of a sandbox": (lambda: Sandbox(min_level="x"), "min_level is one of"),  # pyright: ignore
    "slots in words": (lambda: Sandbox(slots="2"), "slots must be"),  # pyright: ignore
    "one module": (lambda: Sandbox(modules="numpy"), "write modules=['numpy']"),
    "a part of a package": (lambda: Sandbox(modules=["json.decoder"]), "write 'json' instead of 'json.decoder'"),
    "one path": (lambda: Sandbox(readable="/bin"), "write readable=['/bin']"),
    "a path that is not there": (lambda: Sandbox(readable=["a"]), "absolute and exists"),
    "one job": (lambda: sandbox.run_many("print(1)"), "jobs is a list"),
    "no cases": (lambda: sandbox.run_tests("", []), "at least one"),
    "a reason to stop": (lambda: sandbox.run_tests("", [("", "")], stop="first"), "never, failure"),  # pyright: ignore
    "a limit of a test": (lambda: sandbox.run_tests("", [("a", "b")], timout=3), "Did you mean 'timeout'"),
    "a language": (lambda: Job(code="", language="c++"), "not one of python, cpp"),  # pyright: ignore
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_argument_that_makes_no_sense_is_refused_in_words(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(ConfigError, match=re.escape(words)):
        call()


@pytest.mark.parametrize("name", [*WHOLE, "timeout", "wall"])
@pytest.mark.parametrize("value", [0, -1, "1", True, [], math.nan, math.inf, 1 << 70])
def test_a_limit_that_is_not_a_number_or_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}\\b"):
        Limits(**{name: value})


@pytest.mark.parametrize("name", [*WHOLE, "processes"])
@pytest.mark.parametrize("value", [-1, 1.5, 1e6, None])
def test_a_limit_that_counts_is_a_whole_number(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}\\b"):
        Limits(**{name: value})


def test_whole_numbers_of_other_libraries_are_as_good() -> None:
    limits = Limits(memory=np.int64(64 * MIB), timeout=np.float64(2.0))

    assert limits == Limits(memory=64 * MIB, timeout=2.0)
    assert type(limits.memory) is int


@pytest.mark.parametrize("level", [*sandbox_levels.CONFINED, "process"])
def test_the_greatest_limits_and_the_least_are_within_the_means_of_every_level(level: Any) -> None:
    things, size = 1 << 31, 1 << 46
    greatest = Limits(
        timeout=1e9, wall=1e9, memory=size, output=1 << 30, disk=size, inodes=things, threads=things, open_files=things
    )
    with sandbox_levels.box_at(level) as box:
        assert box.run("print(1)", limits=greatest).stdout == "1\n"
        assert box.run("", limits=Limits(memory=1, output=1, disk=1, inodes=1, threads=1, open_files=1)).reason == "ok"


def test_limits_by_name_change_those_of_the_sandbox_and_no_others() -> None:
    with sandbox_levels.box_at("landlock", limits=Limits(timeout=2.0, output=10)) as box:
        assert box.run("print('x' * 20)").truncated
        assert not box.run("print('x' * 20)", output=100).truncated
        assert box.run("while True: pass", output=100, timeout=0.2, wall=60).reason == "cpu"
        assert not box.run("print('x' * 20)", limits=Limits()).truncated


@pytest.mark.parametrize(
    ("files", "words"),
    [
        *(({name: ""}, "folder") for name in ("/etc/passwd", "../x", "a/../../x", "", ".", "a\0b", "a/")),
        ({"a/.": ""}, "folder"),
        ({"\ud800": ""}, "UTF-8"),
        ({"a/\udc80": ""}, "UTF-8"),
        ({"x" * 256: ""}, "at most 255 bytes"),
        ({"é" * 128: ""}, "at most 255 bytes"),
        ({"a/" * 2000 + "b": ""}, "4000 in all"),
        ({"a": "", "./a": ""}, "are one file"),
        ({"a/b": "", "a//b": ""}, "are one file"),
        ({"a": "", "a/b": ""}, "'a' cannot be the folder of 'a/b'"),
        ({"a/b/c": "", "a": ""}, "'a' cannot be the folder of 'a/b/c'"),
    ],
)
def test_names_that_no_folder_can_hold_are_refused(files: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Job(code="", files=files)


@pytest.mark.parametrize("level", [*sandbox_levels.CONFINED, "process"])
def test_files_that_fill_the_disk_to_the_last_byte_and_name_are_there(level: Any) -> None:
    page = 4096
    names = ["a" * 255, "é" * 127, "d/e/f", "\n", " ", "-", "C:\\x"]
    files = dict.fromkeys(names, b"x" * page)
    count = "import os\nprint(sum(len(files) + len(folders) for _, folders, files in os.walk('.')))"
    with sandbox_levels.box_at(level) as box:
        disk = (len(files) + 2) * page  # a folder takes room too, where the disk is not in memory
        result = box.run(count, files=files, disk=disk, inodes=len(files) + 2)

        assert (result.reason, result.stdout) == ("ok", f"{len(files) + 2}\n")
        for name, short in (("disk", disk - page), ("inodes", len(files) + 1)):
            with pytest.raises(ConfigError, match="raise `disk` or `inodes`"):
                box.run("", files=files, **{name: short})


@pytest.mark.parametrize("content", ["x" * 2000, "é" * 600, b"x" * 1001])
def test_files_must_fit_the_disk(content: str | bytes) -> None:
    with sandbox_levels.box_at("bubblewrap") as box:
        with pytest.raises(ConfigError, match="disk"):
            box.run("", files={"a": content}, disk=1000)
        assert box.run("").reason == "ok"


def test_every_default_is_in_the_docstring() -> None:
    assert Limits.__doc__ is not None
    described = dict(re.findall(r"^        (\w+): (.*?)(?=^        \w+:|\Z)", Limits.__doc__, re.MULTILINE | re.DOTALL))
    for field in dataclasses.fields(Limits):
        in_mib = field.name in ("memory", "output", "disk")
        if field.default:
            value = f"{field.default // MIB} MiB" if in_mib else f"{field.default:g}"
            assert f"{value} by default" in " ".join(described[field.name].split())
