"""Answers that attack graders: code, answers that take very long, unexpected text, and constants.

Code that runs writes the file `MARKER` into the working folder.
"""

import json
import random
import re
from collections.abc import Callable, Iterator

MARKER = "ran"

_OPEN = f"open('{MARKER}','w').close()"
CODE = (
    _OPEN,
    f"__import__('os').system('touch {MARKER}')",
    f"[{_OPEN}]",
    f"[x for x in [{_OPEN}]]",
    f"(lambda: {_OPEN})()",
    f"().__class__.__base__.__subclasses__()[0].__init__.__globals__['__builtins__']['open']('{MARKER}','w')",
    f'exec("{_OPEN}")',
    f'eval("{_OPEN}")',
    f"getattr(__builtins__,'op'+'en')('{MARKER}','w')",
    f"f'{{{_OPEN}}}'",
    f"(y := {_OPEN})",
    f"x if {_OPEN} else x",
    f"x+{_OPEN}*0",
    f'sympify("{_OPEN}")',
    f"Symbol('x').func.__init__.__globals__['__builtins__']['open']('{MARKER}','w')",
    f"lambdify(x, '{_OPEN}')(1)",
    f"S('{_OPEN}')",
    f"6*4\n{_OPEN}",
    f"{{{_OPEN}: 1}}",
    f"[*{_OPEN}]",
    f"#coding: utf-7\n{_OPEN}",
    f"!!python/object/apply:os.system ['touch {MARKER}']",
    f"cos\nsystem\n(S'touch {MARKER}'\ntR.",
    f"$(touch {MARKER})",
    f"`touch {MARKER}`",
    f"'; touch {MARKER} #",
    "entry",
    "oracle_answer",
    "valid_solutions",
    "self.__dict__",
    "__builtins__",
)
"""Programs and names in languages that a scorer may evaluate."""

NUMBERS = (
    "1e-9999999",
    "1e9999999",
    "1E+99999999999999999999",
    "1e999999999",
    "-1e308",
    "5e-324",
    "0." + "0" * 5000 + "1",
    "9" * 4301,
    "9" * 100_000,
    "1/" + "9" * 5000,
    "1/0",
    "0/0",
    "9**9**9**9",
    "9^9^9^9",
    "2**-99999999",
    "(-8)**0.333",
    "99999999!",
    "9!!!!!!!",
    "factorial(99999999)",
    "gamma(1e10)",
    "1e-9999999*0+24",
    "10**10**10%7",
    "1<<99999999999",
    "0x" + "f" * 10_000,
    "0b1_0",
    "1_000",
    "NaN",
    "nan",
    "-nan",
    "sNaN",
    "[NaN]",
    "inf",
    "-Infinity",
    "nan + nani",
    "infi",
    "inf - infi",
    "1e400i",
    "-0",
    "+0.0",
    "٣",
    "９８７",
    "²",
    "Ⅷ",
    "1,2,3,4,5,6,7,8,9,10,11,12",
    " ".join(map(str, range(3000))),
    "×".join(["999999999999"] * 5000),
)

DEEP = (
    "(" * 5000,
    "(" * 900 + "1" + ")" * 900,
    "(" * 50_000 + "1" + ")" * 50_000,
    "sin(" * 60 + "x" + ")" * 60,
    "sin(" * 400 + "x" + ")" * 400,
    "exp(" * 40 + "x" + ")" * 40,
    "sin(cos(tan(" * 15 + "x" + ")))" * 15,
    "*".join(f"tan({n}*x)" for n in range(1, 40)),
    "*".join(f"(x+{n})" for n in range(1, 60)),
    "(x+y+z+1)**200",
    "(sin(x)+cos(x)+exp(x))**60",
    "sqrt(" * 100 + "2" + ")" * 100,
    "-" * 100_000 + "1",
    "~" * 2000 + "1",
    "not " * 5000 + "1",
    "+".join(["1"] * 50_000),
    "[" * 100_000,
    "[" * 900 + "]" * 900,
    "[" * 90_000 + "]" * 90_000,
    '{"a":' * 900 + "1" + "}" * 900,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    "¬" * 5000 + "P",
    "(" * 2000 + "P" + " ∧ P)" * 2000,
    " ↔ ".join("PQRS" * 500),
)

JSON = (
    "{}",
    "[]",
    "null",
    "true",
    '""',
    "[[]]",
    "[null]",
    "[1e999]",
    '{"a": NaN, "b": Infinity}',
    '{"0": 1, "0": 2}',
    json.dumps({str(n): n for n in range(20_000)}),
    json.dumps([[n] * 30 for n in range(2000)]),
    json.dumps({"steps": "9" * 20_000, "b": ["x" * 5000] * 4}),
    json.dumps([{"a": [n, {"b": [n]}]} for n in range(300)]),
    '["' + "\\u0000" * 1000 + '"]',
    '{"__class__": {"__init__": {"__globals__": 1}}}',
    json.dumps({"Agent[0.5, 0.5]": "move(box_blue, square[0.5, 1.5])"}),
)

TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\N{RIGHT-TO-LEFT OVERRIDE}1",
    "e\u0301" * 5000,
    "\N{ZERO WIDTH SPACE}",
    "\x1b]52;c;Zm9v\a\x1b[2J",
    "\r\n\r\n",
    "\t\v\f\x1c\x85\u2028",
    "a" * 1_000_000,
    "1 " * 500_000,
    "\n" * 1_000_000,
    "ABC" * 300_000,
    "LURD" * 25_000,
    "," * 1_000_000,
    "(" * 1_000_000,
    "Move disk 1 from Peg 1 to Peg 2\n" * 20_000,
    "right " * 100_000,
    "a" * 40 + "!",
    "(a+)+$",
    "((((((((((a*)*)*)*)*)*)*)*)*)*b",
    "%s%s%s%n%1000000000d",
    "{0.__class__.__init__.__globals__}",
    "{:>1000000000}",
    "\\frac{" * 2000,
    "$\\frac{1}{0}$",
    "<answer>",
    "\\boxed{",
    "U1000000",
    "U99999999999999999999",
    "R2 " * 20_000,
    "A+999999999",
    "A+99999999999999999999999999",
    "A-999999999 A+1",
    "AA+4",
    " ".join(["A+1", "A-1"] * 20_000),
    "A=1,B=2,C=" + "9" * 5000,
    "A1" * 5000,
    "w,A1,A1",
    '["w,A1,A1"]',
    '["fill A", "pour A->A"]',
    json.dumps(["fill A", "empty A"] * 20_000),
    json.dumps(["w,A1,B3"] * 20_000),
    "99999999999999999999 days, 99:99:99",
    "00:00:00.000000000000000000000001",
    "-1:-1:-1",
    "P ∨ ¬P",
    "Q ↔ Q",
    "a ∨ ¬a",
    "True False Yes No 0 1",
)

GENERIC = CODE + NUMBERS + DEEP + JSON + TEXTS

CONSTANTS = (
    "0", "1", "2", "3", "-1", "0.5", "True", "False", "Yes", "No", "yes", "no", "[]", "{}", "", "A", "B", "none",
    "6*4+1-1", "infeasible", "#", "[NaN]", "P", "P ∨ ¬P", "C",
)  # fmt: skip
"""Answers that do not depend on the question."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _swapped(parts: list[str], rng: random.Random) -> list[str]:
    first, second = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts = [*parts]
    parts[first], parts[second] = parts[second], parts[first]
    return parts


def _one_number(text: str, rng: random.Random, change: Callable[[str], str]) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    one = rng.choice(found)
    return text[: one.start()] + change(one[0]) + text[one.end() :]


def _json_mutations(answer: str) -> Iterator[str]:
    try:
        value = json.loads(answer.replace("'", '"'))
    except ValueError:
        return
    if isinstance(value, list) and value:
        yield json.dumps([*value, value[0]])
        yield json.dumps([*value, None])
        yield json.dumps(value[:-1])
        yield json.dumps(value[::-1])
        yield json.dumps([value])
        yield json.dumps([float("nan")] * len(value))
        yield json.dumps([True] * len(value))
        yield json.dumps(["".join(map(str, each)) if isinstance(each, list) else each for each in value])
        yield json.dumps([[*each, 7] if isinstance(each, list) else each for each in value])
        yield json.dumps([[bool(one) for one in each] if isinstance(each, list) else each for each in value])
        yield json.dumps({str(number): each for number, each in enumerate(value)})
    if isinstance(value, dict) and value:
        key = next(iter(value))
        yield json.dumps({**value, "more": 1})
        yield json.dumps({name: each for name, each in value.items() if name != key})
        yield json.dumps({**value, key: None})
        yield json.dumps({**value, key: True})
        yield json.dumps({**value, key: [value[key]]})
        yield json.dumps(dict.fromkeys(value, -1))
        yield json.dumps(dict.fromkeys(value, 999))
        yield json.dumps({name: name for name in value})


def mutations(answer: str, rng: random.Random) -> list[str]:
    """Variations of a right answer, most of them wrong; the right answer itself is not among them."""
    lines, words = answer.split("\n"), answer.split(" ")
    cells = [line.split() for line in lines]
    made = [
        answer[1:],
        answer[:-1],
        answer[::-1],
        answer.upper(),
        answer.lower(),
        answer.swapcase(),
        answer * 2,
        f"{answer} {answer}",
        f"{answer}\n{answer}",
        f"{answer}, extra",
        f"{answer},{answer}",
        f"{answer} or {answer}1",
        f"{answer} 1",
        f"{answer}\n0 0 0",
        f"{answer}\0",
        f"{answer}.0",
        f"{answer}0",
        f"{answer}e0",
        f"{answer}e1",
        f"{answer} or not",
        f"-{answer}",
        f"not {answer}",
        f"({answer})",
        f"[{answer}]",
        f'"{answer}"',
        f"[[{answer}]]",
        f"{answer}+0",
        f"{answer}*1",
        f"{answer}+1",
        f"{answer} + x",
        f"{answer} - 1e-9",
        f"2*({answer})",
        f"({answer})/1",
        f"0*({answer})",
        f"Answer: {answer}",
        f"answer = {answer}",
        f"{answer}%",
        f"{answer} {answer[:1]}",
        answer.replace(" ", ""),
        answer.replace(" ", "  "),
        answer.replace("\n", " "),
        answer.replace("\n", "\n\n"),
        answer.replace("1", "2"),
        answer.replace("0", "1"),
        answer.replace("-", ""),
        answer.replace("-", "+"),
        answer.replace(".", ""),
        answer.replace("C", "Cx"),
        answer.translate({ord(str(n)): 0xFF10 + n for n in range(10)}),
        "\n".join(lines[::-1]),
        "\n".join(lines[:-1]),
        "\n".join([*lines, lines[-1]]),
        "\n".join(line + " 0" for line in lines),
        "\n".join(line + line for line in lines),
        "\n".join(" ".join(column) for column in zip(*cells, strict=False)),
        "\n".join(" ".join(row[::-1]) for row in cells),
        ", ".join(words[::-1]),
        " ".join(words[::-1]),
        " ".join(sorted(words)),
        " ".join(words[:-1]),
        " ".join([*words, words[0]]),
        *_json_mutations(answer),
    ]
    for _ in range(4):
        made.append(" ".join(_swapped(words, rng)))
        made.append("\n".join(_swapped(lines, rng)))
        made.append(",".join(_swapped(answer.split(","), rng)))
        made.append("".join(_swapped(list(answer or " "), rng)))
        made.append(_one_number(answer, rng, lambda number: str(int(float(number)) + 1)))
        made.append(_one_number(answer, rng, lambda number: f"{float(number) + 0.4:.6f}"))
        made.append(_one_number(answer, rng, lambda number: f"{float(number) * 1.004:.6f}"))
        made.append(_one_number(answer, rng, lambda number: f"{float(number) + 1e-5:.6f}"))
        made.append(_one_number(answer, rng, lambda number: f"-{number}"))
        made.append(_one_number(answer, rng, lambda number: "nan"))
        made.append(_one_number(answer, rng, lambda number: f"{number}e0"))
    return [text for text in dict.fromkeys(made) if text.strip() != answer.strip()]
