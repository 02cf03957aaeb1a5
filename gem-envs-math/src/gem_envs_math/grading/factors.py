"""Reading the factors of values: numbers, names, functions."""

from abc import abstractmethod
from fractions import Fraction

from gem_envs_math.grading.brackets import Brackets
from gem_envs_math.grading.cursor import DEEPEST
from gem_envs_math.grading.nodes import Node, number
from gem_envs_math.grading.tokens import Foreign, Token, TooLong, Unreadable
from gem_envs_math.grading.units import is_product

_WITH_INVERSE = ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh")
_INVERSES = {prefix + name: "a" + name for name in _WITH_INVERSE for prefix in ("a", "ar", "arc")}
CALLS = {
    *_WITH_INVERSE, *_INVERSES, "coth", "ln", "log", "lg", "exp", "sqrt", "abs", "floor", "ceil", "cbrt", "gcd", "lcm",
    "max", "min", "Re", "Im", "arg",
}  # fmt: skip
_OF_SEVERAL = {"gcd", "lcm", "max", "min"}
CONSTANTS = {"pi": "pi", r"\pi": "pi", "e": "e", "i": "i"}
_INFINITY = {r"\infty", "infinity", "oo", "Infinity", "inf", "infty"}
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell"
)
GREEK = {"\\" + name for name in _GREEK_NAMES.split()}
_NUMBERS = {r"\mathbbR": "R", r"\mathbbZ": "Z", r"\mathbbN": "N", r"\mathbbQ": "Q", r"\mathbbC": "C"}


class Factors(Brackets):
    """Reads powers and what they are made of."""

    @abstractmethod
    def _signed(self) -> Node: ...

    @abstractmethod
    def _next_factor(self, node: Node) -> bool:
        """Tell whether a factor of the same product follows `node`, without a sign."""

    def _power(self) -> Node:
        return self._raised(self._atom())

    def _raised(self, node: Node) -> Node:
        while True:
            if self._take("^"):
                if node.op == "name" and self._value(1) == "_" and self._value().isdecimal():  # x^2_1 is x_1^2
                    exponent = number(int(self._value()))
                    self._at += 1
                else:
                    exponent = self._exponent()
                if node.op == "name" and self._take("_"):
                    node = node._replace(name=f"{node.name}_{self._index()}")
                node = Node("pow", (node, exponent))
            elif self._value() == "!" and self._value(1) != "!":
                self._at += 1
                node = Node("call", (node,), "factorial")
            elif self._value() == r"\degree" and self._value(1) not in ("C", "F", "K"):
                self._at += 1
                node = Node("degree", (node,))
            elif self._value() == r"\degree":
                kind = {"C": "celsius", "F": "fahrenheit", "K": "K"}[self._value(1)]
                self._at += 2
                node = Node("quantity", (node,), f"{kind}^1", Fraction(1))
            else:
                return node

    def _skip(self) -> bool:
        self._at += 1
        return True

    def _exponent(self) -> Node:
        if self._value() in ("{", "("):
            return self._atom()
        if self._take("-"):
            return Node("neg", (self._exponent(),))
        if self._take("+"):
            return self._exponent()
        node = self._atom()
        return Node("pow", (node, self._exponent())) if self._take("^") else node

    def _atom(self) -> Node:
        kind, value = self._kind(), self._value()
        if not kind:
            raise Unreadable("something is missing")
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooLong("it is nested too deeply")
        if kind == "number":
            self._at += 1
            node = self._number(value)
        elif kind in ("word", "text"):
            node = self._letters()
        elif kind == "command":
            self._at += 1
            node = self._command(value)
        elif kind == "environment":
            node = self._matrix()
        else:
            self._at += 1
            node = self._bracket(value)
        self._depth -= 1
        return node

    def _number(self, digits: str) -> Node:
        if self._grouped and digits.isdecimal() and len(digits) <= 3 and not digits.startswith("0"):
            while self._value() == "," and self._joins():
                digits += self._value(1)
                self._at += 2
        if self._value() == r"\overline" and "." in digits:
            return self._repeating(digits)
        if self._value() == "_" and digits.isdecimal():
            return self._in_base(digits)
        if "e" in digits or "E" in digits:
            mantissa, _, exponent = digits.lower().partition("e")
            return number(Fraction(mantissa.rstrip(".")) * Fraction(10) ** int(exponent))
        whole, _, part = digits.partition(".")
        return number(Fraction(int((whole + part) or "0"), 10 ** len(part)))

    def _joins(self) -> bool:
        """Tell whether the comma here separates thousands."""
        if self._found[self._at].spaced or self._kind(1) != "number" or self._found[self._at + 1].spaced:
            return False
        if self._depth > 2 and not self._spaced_commas:
            return False
        return len(self._value(1).partition(".")[0]) == 3 and "e" not in self._value(1)

    def _repeating(self, digits: str) -> Node:
        """`0.1\\overline{6}`."""
        self._at += 1
        self._need("{")
        again = self._value()
        if not again.isdecimal():
            raise Unreadable("digits are missing")
        self._at += 1
        self._need("}")
        whole, _, part = digits.partition(".")
        start = Fraction(int(whole + part or "0"), 10 ** len(part))
        return number(start + Fraction(int(again), (10 ** len(again) - 1) * 10 ** len(part)))

    def _in_base(self, digits: str) -> Node:
        """`101_2`."""
        self._at += 1
        braced = self._take("{")
        base = self._value()
        if not base.isdecimal() or not 2 <= int(base) <= 36:
            raise Unreadable("a number cannot have this index")
        self._at += 1
        if braced:
            self._need("}")
        if any(int(digit) >= int(base) for digit in digits):
            raise Unreadable("a digit is too large for its base")
        return number(int(digits, int(base)))

    def _letters(self) -> Node:
        word = self._word()
        if word in CALLS:
            self._at += 1
            return self._call(word)
        if word in _INFINITY:
            self._at += 1
            return Node("infinity")
        if word in CONSTANTS:
            self._at += 1
            return Node("constant", (), CONSTANTS[word])
        if len(word) == 1 and word.isalpha():
            self._at += 1
            return self._named(word)
        if self._kind() == "text" or not word.isascii() or (len(word) > 3 and not is_product(word)):
            raise Unreadable(f"the word {word!r} has no meaning here")
        # xy: the first letter, and the rest as another token.
        token = self._found[self._at]
        rest = 2 if word.startswith("pi") else 1
        self._found[self._at : self._at + 1] = [
            Token("word", word[:rest], token.spaced),
            Token("word", word[rest:], False),
        ]
        return self._letters()

    def _named(self, name: str) -> Node:
        """A variable with its index and primes."""
        primes = ""
        while True:
            if self._take("_"):
                name += "_" + self._index()
            elif self._take("'"):
                primes += "'"
            else:
                return Node("name", (), name + primes)

    def _index(self) -> str:
        if not self._take("{"):
            self._at += 1
            return self._found[self._at - 1].value if self._at <= len(self._found) else ""
        start = self._at
        while self._at < len(self._found) and self._value() not in ("{", "}"):
            self._at += 1
        index = "".join(token.value for token in self._found[start : self._at])
        self._need("}")
        return index

    def _group(self) -> Node:
        """The content of braces, or one digit, letter or command."""
        if self._take("{"):
            node = self._without_lists()
            if self._value() != "}":
                node = self._with_unit(node)
            self._need("}")
            return node
        value = self._value()
        if self._kind() == "number" and len(value) > 1:
            token = self._found[self._at]
            self._found[self._at] = Token("number", value[1:], False)
            if not value[0].isdecimal():
                raise Unreadable("a fraction of decimals needs braces")
            return number(int(token.value[0]))
        if self._kind() == "word" and len(value) > 1:
            self._found[self._at] = Token("word", value[1:], False)
            return Node("name", (), value[0])
        return self._atom()

    def _command(self, value: str) -> Node:
        if value == r"\frac":
            above = self._group()
            return Node("div", (above, self._group()))
        if value == r"\sqrt":
            return self._root()
        if value == r"\binom":
            above = self._group()
            return Node("call", (above, self._group()), "binomial")
        if value in _INFINITY:
            return Node("infinity")
        if value in CONSTANTS:
            return Node("constant", (), CONSTANTS[value])
        if value in GREEK:
            return self._named(value)
        if value in _NUMBERS:
            return Node("every", (), _NUMBERS[value])
        if value == r"\emptyset":
            return Node("set")
        if value[1:] in CALLS:
            return self._call(value[1:])
        if value in (r"\lfloor", r"\lceil"):
            inner = self._without_lists()
            self._need(r"\rfloor" if value == r"\lfloor" else r"\rceil")
            return Node("call", (inner,), "floor" if value == r"\lfloor" else "ceil")
        if value == r"\langle":
            return self._sequence("(", r"\rangle")
        if value in _DRESSED:
            return self._named(f"{value} {self._index()}")
        raise Foreign(f"{value} has no meaning here")

    def _root(self) -> Node:
        degree = number(2)
        if self._take("["):
            degree = self._sum()
            self._need("]")
        return Node("root", (self._atom(), degree))

    def _call(self, name: str) -> Node:
        base = power = None
        while self._value() in ("_", "^"):
            if self._take("_"):
                base = self._group_of_number()
            elif self._take("^"):
                power = self._exponent()
        if self._value() in ("(", "{", "["):
            commas, self._spaced_commas = self._spaced_commas, self._spaced_commas or name not in _OF_SEVERAL
            inner = self._atom() if self._value() != "[" else self._bracketed_square()
            self._spaced_commas = commas
        else:
            inner = self._argument()
        arguments = inner.args if inner.op in ("sequence", "several") else (inner,)
        if name == "sqrt":
            node = Node("root", (*arguments, number(2)))
        elif name == "cbrt":
            node = Node("root", (*arguments, number(3)))
        elif name == "exp":
            node = Node("pow", (Node("constant", (), "e"), *arguments))
        elif name == "log" and base is not None:
            node = Node("div", (Node("call", arguments, "ln"), Node("call", (base,), "ln")))
        elif power == Node("neg", (number(1),)) and name in _WITH_INVERSE:
            return Node("call", arguments, "a" + name)
        else:
            node = Node("call", arguments, _INVERSES.get(name, name))
        return node if power is None else Node("pow", (node, power))

    def _group_of_number(self) -> Node:
        """The base of a logarithm: a group, or a whole number."""
        return self._atom() if self._value() in ("{", "(") or self._kind() == "number" else self._group()

    def _bracketed_square(self) -> Node:
        self._need("[")
        node = self._several(("]",))
        self._need("]")
        return node

    def _argument(self) -> Node:
        """The argument of a function without brackets: `2x` of `\\sin 2x \\cos x`."""
        node = self._signed()
        while self._next_factor(node):
            if self._value() in ("(", "{") or self._value().removeprefix("\\") in CALLS:
                break
            node = Node("mul", (node, self._power()))
        return node


_DRESSED = {
    r"\overline", r"\bar", r"\vec", r"\hat", r"\widehat", r"\overrightarrow", r"\mathcal", r"\angle", r"\triangle",
}  # fmt: skip
ATOMS = (
    {r"\frac", r"\sqrt", r"\binom", r"\infty", r"\pi", r"\emptyset", r"\lfloor", r"\lceil", r"\langle"}
    | GREEK
    | set(_NUMBERS)
    | _DRESSED
)
