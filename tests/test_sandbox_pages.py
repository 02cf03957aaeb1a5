"""The pages about the sandbox agree with its defaults and with what its tests know of attacks."""

import dataclasses
import re
import sys
from pathlib import Path

from gem_sandbox import Limits

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "gem-sandbox" / "tests"))
MIB = 1 << 20


def test_the_page_of_the_sandbox_has_every_limit_with_its_default() -> None:
    page = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
    table = page.partition("## Limits")[2].partition("\n## ")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", table, re.MULTILINE))
    expected = {"wall": "`4 * timeout + 1`", "processes": "0"}
    for field in dataclasses.fields(Limits):
        if field.name in ("memory", "output", "disk"):
            expected[field.name] = f"{field.default // MIB} MiB"
        else:
            expected.setdefault(field.name, f"{field.default:g}" if field.default else "")

    assert shown == expected
    assert list(shown) == [field.name for field in dataclasses.fields(Limits)]


def test_the_page_of_attacks_has_the_table_of_the_attacks_known_to_succeed() -> None:
    from attacks import known, table

    assert table.PAGE.read_text(encoding="utf-8") == table.page(known.BREACHED)
