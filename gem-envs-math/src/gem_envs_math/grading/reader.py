"""Parsing of tokens: values, points, sets, intervals, matrices, relations, quantities."""

from fractions import Fraction

from gem_envs_math.grading.cursor import DEEPEST
from gem_envs_math.grading.factors import ATOMS, CALLS, CONSTANTS, GREEK, Factors
from gem_envs_math.grading.named import as_tuples, is_name
from gem_envs_math.grading.nodes import Node, is_value, names, number
from gem_envs_math.grading.tokens import TooLong, Unreadable
from gem_envs_math.grading.units import UNITS, Unit, read_unit

_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NO_UNITS = (CALLS - {"min"}) | CONSTANTS.keys()
_PERCENT = ("percent", "percentage", "pct")
_RELATIONS = {"=": "=", "<": "<", ">": ">", r"\le": "<=", r"\ge": ">=", r"\ne": "!=", r"\in": "in", r"\approx": "~"}
_SEPARATORS = {",": ",", ";": ",", "and": "and", "or": "or", r"\land": "and", r"\lor": "or"}
_SETS = {r"\cup": "union", "U": "union", r"\cap": "intersection", r"\setminus": "difference"}
_CURRENCIES = {r"\$", "$", "€", "£", "¥"}
_NUMBER_SIGNS = {"{", "}", "(", ")", "/", "*", "^", ",", r"\frac", r"\sqrt", r"\pi"}
_ENDS = {")", "]", "}", r"\}", "|", r"\mid", ":", "&", "\\\\", r"\rfloor", r"\rceil", r"\rangle"}


class Reader(Factors):
    """Reads one answer."""

    _start = 0
    """Where the quantity begins that is read, outside of brackets."""

    def read(self) -> Node:
        """The whole answer.

        Raises:
            Unreadable: it is not in this notation.
        """
        answer = self._several(())
        if self._at < len(self._found):
            raise Unreadable(f"{self._found[self._at].value!r} is out of place")
        return answer

    def _several(self, ends: tuple[str, ...]) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooLong("it is nested too deeply")
        items = [self._relation()]
        kinds: set[str] = set()
        while self._at < len(self._found) and self._value() not in ends:
            kind = self._separator()
            if not kind:
                break
            kinds.add(kind)
            items.append(self._relation())
        self._depth -= 1
        if not kinds:
            return items[0]
        return Node("several", as_tuples(items), "or" if "or" in kinds else "and" if "and" in kinds else ",")

    def _separator(self) -> str:
        found = ""
        while (kind := _SEPARATORS.get(self._word())) and not (found and kind == "," and found != ","):
            found = kind if found in ("", ",") else found
            self._at += 1
        return found

    def _relation(self) -> Node:
        self._take(r"\approx")
        operands = [self._name_in_words() or self._set_level()]
        signs: list[str] = []
        while (sign := _RELATIONS.get(self._value())) is not None:
            self._at += 1
            if sign == "~" and len(operands) == 1 and is_name(operands[0]):
                sign = "="
            if sign == "~":  # what follows only approximates what stands before
                self._set_level()
                continue
            signs.append(sign)
            named = None if is_name(operands[0]) else self._name_in_words(is_last=True)  # 2x = f(x)
            operands.append(named or self._set_level())
        return Node("relation", tuple(operands), " ".join(signs)) if signs else operands[0]

    def _name_in_words(self, *, is_last: bool = False) -> Node | None:
        """The left-hand side of `Area = 5`, `f(x) = 5` or `AB = 5`; if `is_last`, the right-hand side of `5 = f(x)`."""
        end = self._after_function()
        if end == self._at:
            if is_last:
                return None
            while end < len(self._found) and self._found[end].kind in ("word", "text"):
                end += 1
            first = self._value().strip()
            if end == self._at or first in CALLS:
                return None
            if end - self._at == 1 and self._kind() == "word" and len(first) < 4 and not first.isupper():
                return None
            if end - self._at > 1 and all(len(token.value) == 1 for token in self._found[self._at : end]):
                return None  # I R = V
        if (end == len(self._found)) != is_last or (not is_last and self._found[end].value not in ("=", r"\approx")):
            return None
        words = [token.value.strip() for token in self._found[self._at : end]]
        self._at = end
        return Node("name", (), " ".join(words))

    def _after_function(self) -> int:
        """Where `f(x)`, `f^{-1}(x)` or `P_n'[(x, y)]` ends, if that stands here; else this place."""
        letter = self._value()
        if letter in CONSTANTS or not ((self._kind() == "word" and len(letter) == 1) or letter in GREEK):
            return self._at
        end = self._at + 1
        while end < len(self._found) and self._found[end].value in ("'", "_", "^"):
            sign = self._found[end].value
            if sign == "^" and [token.value for token in self._found[end + 1 : end + 4]] != ["{", "-", "1"]:
                return self._at
            end = end + 1 if sign == "'" else self._after_brackets(end + 1)
        start, end = end, self._after_brackets(end)
        if end - start < 3 or self._found[start].value not in ("(", "["):
            return self._at
        # x(x - 1) = 6 is a product
        is_product = any(token.value == letter for place, token in enumerate(self._found) if place != self._at)
        return self._at if is_product or (letter in ("x", "y", "z") and end - start > 3) else end

    def _after_brackets(self, at: int) -> int:
        """Where the brackets end that begin there; after one token, if none do."""
        depth = 0
        for place in range(at, len(self._found)):
            value = self._found[place].value
            depth += (value in ("(", "[", "{")) - (value in (")", "]", "}"))
            if depth <= 0:
                return place + 1
        return at

    def _set_level(self) -> Node:
        node = self._quantity()
        while (op := _SETS.get(self._value())) and (op != "union" or self._value() != "U" or not is_value(node)):
            self._at += 1
            node = Node(op, (node, self._quantity()))
        return node

    # Quantities and sums.

    def _quantity(self) -> Node:
        start = self._at
        if self._depth == 1:
            self._start = start
        negative = self._take("-")
        if self._value() in _CURRENCIES:
            unit = UNITS[self._value().removeprefix("\\")]
            self._at += 1
            value = self._sum()
            amount = Node("neg", (value,)) if negative else value
            if (after := self._unit(value)) is not None and after[0] != unit.name:
                raise Unreadable("it has two units")
            return Node("quantity", (amount,), unit.name, unit.factor)
        self._at = start
        is_one = self._kind() == "text" and self._value(1) in ("+", "-")  # \\text{gal} + 2 \\text{gal}
        return self._with_unit(number(1) if is_one else self._sum())

    def _with_unit(self, value: Node) -> Node:
        """A quantity, or a sum of quantities, if a unit follows `value`; else `value`."""
        if value.op == "div" and value.args[0].op == "quantity":  # \\frac{7 \\text{ cm}}{2}
            (amount,), name, factor = value.args[0][1:]
            return Node("quantity", (value._replace(args=(amount, value.args[1])),), name, factor)
        unit = self._unit(value)
        if unit is None:
            return value
        name, factor = unit
        # 5 ft 3 in
        while self._kind() == "number" and is_value(value):
            part = self._product()
            small = self._unit(part)
            if small is None or small[0] != name:
                raise Unreadable("a unit is missing")
            value = Node("add", (value, Node("mul", (part, number(small[1] / factor)))))
        while self._value() in ("+", "-"):  # 1 m + 50 cm
            sign = self._value()
            self._at += 1
            part = self._product()
            other = self._unit(part)
            if other is None or other[0] != name:
                raise Unreadable("a sum of quantities has two kinds of them")
            part = Node("mul", (part, number(other[1] / factor)))
            value = Node("add", (value, part if sign == "+" else Node("neg", (part,))))
        return Node("quantity", (value,), name, factor)

    def _unit(self, value: Node) -> tuple[str, Fraction] | None:
        """The unit at this place, after a value."""
        found = self._unit_here(value)
        if found is None:
            return None
        name, factor, self._at = found
        return name, factor

    def _unit_here(self, value: Node) -> tuple[str, Fraction, int] | None:
        kind = self._kind()
        if kind not in ("word", "text") and self._value() not in (r"\mu", r"\Omega", "€", "£", "¥", r"\$"):
            return None
        if self._word() in _SEPARATORS or (kind == "word" and self._word() in _NO_UNITS):
            return None
        if not is_value(value) or (kind != "text" and names(value)):
            return None
        found = read_unit(self._found, self._at, attached=kind == "word" and not self._found[self._at].spaced)
        if found is None:
            return None
        unit, end, is_letters = found
        after = self._found[end].value if end < len(self._found) else ""
        ended = after in _SEPARATORS or after in _RELATIONS or after in _ENDS or after == ""
        if is_letters:
            if not (ended and self._are_unit(unit)):
                return None
            self.has_letters = True
        goes_on = after in ("+", "-") or (end < len(self._found) and self._found[end].kind in ("number", "text"))
        if not ended and not goes_on:
            return None
        return unit.name, unit.factor, end

    def _are_unit(self, unit: Unit) -> bool:
        """Tell whether the letters here, behind a number, are a unit: the gold or the question has it, or this is the
        gold, and it is a number, a space, and they."""
        known = self._letters_known
        token = self._found[self._at]
        if self._depth > 1 or token.value in known.variables or not self._is_number(self._start, self._at):
            return False
        if unit.powers.keys() <= known.units:
            return True
        return known.is_gold and token.spaced and self._kind(-1) == "number"

    def _is_number(self, start: int, end: int) -> bool:
        """Tell whether these tokens are one number: `-3.5`, `\\frac{1}{2}`, `2 \\times 10^{-3}`."""
        depth = 0
        before = ""
        for kind, value, _ in self._found[start:end]:
            depth += (value in ("{", "(")) - (value in ("}", ")"))
            sign = value in _NUMBER_SIGNS or (value == "-" and before in ("", "^", "{"))
            if kind != "number" and not sign:
                return False
            before = value
        return not depth

    def _sum(self) -> Node:
        node = self._product()
        while True:
            if self._take("+"):
                node = Node("add", (node, self._product()))
            elif self._take("-"):
                node = Node("add", (node, Node("neg", (self._product(),))))
            elif self._value() in (r"\pm", r"\mp"):
                node = Node("add", (node, self._either_sign()))
            else:
                return node

    def _either_sign(self) -> Node:
        self.has_sign_pair = True
        plus = (self._value() == r"\pm") == self._plus
        self._at += 1
        part = self._product()
        return part if plus else Node("neg", (part,))

    def _product(self) -> Node:
        if self._take("-"):
            return Node("neg", (self._product(),))
        node = self._signed()
        while True:
            if self._take("%") or (self._kind() in ("word", "text") and self._word() in _PERCENT and self._skip()):
                node = Node("percent", (node,))
            elif node.op == "number" and self._word() in _SCALES:
                node = Node("mul", (node, number(10 ** _SCALES[self._word()])))
                self._at += 1
            elif self._take("*"):
                node = Node("mul", (node, self._signed()))
            elif self._value() == "/" or (self._value() == ":" and not self._bars and self._is_ratio(node)):
                is_named = self._value() == ":" and self._kind(1) != "number"
                self._at += 1
                below = self._signed()
                while is_named and is_name(below) and self._next_factor(below):  # AB:CD
                    below = Node("mul", (below, self._power()))
                node = Node("div", (node, below))
            elif self._next_factor(node):
                node = self._times(node)
            else:
                return node

    def _is_ratio(self, node: Node) -> bool:
        """Tell whether a colon after `node` divides, as in `7:32` and `AB:CD`."""
        return self._kind(1) == "number" or (self._kind(1) in ("word", "command") and is_name(node))

    def _times(self, node: Node) -> Node:
        """A product without a sign: `2x`; or a mixed number: `1\\frac{1}{2}`."""
        mixed = node.op == "number" and node.value.denominator == 1 and self._found[self._at - 1].kind == "number"
        if mixed and self._kind() == "number":
            part = self._fraction_after_number()
            return Node("add", (node, part))
        is_fraction = self._value() == r"\frac"
        factor = self._power()
        if mixed and is_fraction and factor.op == "div" and all(part.op == "number" for part in factor.args):
            above, below = factor.args
            if 0 < above.value < below.value and above.value.denominator == below.value.denominator == 1:
                return Node("add", (node, factor))
        return Node("mul", (node, factor))

    def _fraction_after_number(self) -> Node:
        """The fraction of `1 1/2`."""
        if self._value(1) == "/" and self._kind(2) == "number":
            above, below = self._value(), self._value(2)
            if above.isdecimal() and below.isdecimal() and 0 < int(above) < int(below):
                self._at += 3
                return Node("div", (number(int(above)), number(int(below))))
        raise Unreadable("two numbers stand side by side")

    def _next_factor(self, node: Node) -> bool:
        return self._starts_factor() and self._unit_here(node) is None

    def _starts_factor(self) -> bool:
        kind, value = self._kind(), self._value()
        if kind == "environment":
            return value.startswith("begin")
        if kind in ("number", "word"):
            return value not in _SEPARATORS and not (value == "U" and self._value(1) in ("(", "[", "{", r"\{"))
        if kind == "text":
            return self._word() not in _SEPARATORS and self._word().isalpha()
        if kind == "command":
            return value in ATOMS or value[1:] in CALLS
        if value == "[" and (self._kind(1) == "environment" or not self._found[self._at].spaced):
            return self._found[self._at - 1].kind in ("number", "word") or self._value(-1) in ("]", ")")
        return value in ("(", "{", r"\{") or (value == "|" and not self._bars)

    def _signed(self) -> Node:
        if self._take("-"):
            return Node("neg", (self._signed(),))
        if self._take("+"):
            return self._signed()
        if self._value() in (r"\pm", r"\mp"):
            return self._either_sign()
        return self._power()

    # Powers and what they are made of.
