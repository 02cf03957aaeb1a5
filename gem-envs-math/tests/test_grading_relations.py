"""Equations, inequalities and choices: what is the same and what only looks like it. Written for GEM."""

import pytest

from gem_envs_math.grading import grade

UNSOLVABLE = r"""
x^2-3x+10=0 @ x^2-4x+10=0       x^2+1=0 @ x^2+2=0               x^2+x+1=0 @ x^2+x+5=0
2+2=4 @ 9x=3(3x)                2+2=4 @ 1=1                     0=0 @ 1=1
x=x+1 @ x=x+2                   x=x+2 @ 2x=2x+4                 x+1=x @ y+1=y
0=1 @ 0=2                       5=6 @ 7=8                       x=x @ y=y
x=x @ 2+2=4                     3x=3x @ x^2=x^2                 3x-3x=1 @ 5x-5x=2
x^4+1=0 @ x^4+2=0               x^2+4=0 @ x^4+4=0               x^2=-4 @ x^2=-9
y^2+3=0 @ y^2+5=0               x^2+y^2=-1 @ x^2+y^2=-2         x^2+1=0 @ x=x+1
(x-1)^2+1=0 @ (x-1)^2+4=0       x^2-x+1=0 @ x^2+x+1=0           2x^2+3=0 @ 3x^2+2=0
\frac{x}{x}=2 @ \frac{x}{x}=3   \frac{1}{x}=0 @ \frac{1}{x-1}=0 x^6+x^2+1=0 @ x^6+x^4+1=0
4x^2-5x+17=0 @ 2x^2+6x+8=0      \ln{x}=\ln{x}+1 @ \ln{x}=\ln{x}+2   1<2 @ 3<4
x^2<-1 @ x^2<-2                 x^2+1<0 @ x^2+5<0               1>2 @ 3>4
x+y=1,x+y=2 @ x-y=1,x-y=3       x=1,x=2 @ x=3,x=4               2x+y=1,4x+2y=3 @ 2x+y=1,4x+2y=5
(x+1)^2=x^2+2x+1 @ (x-1)^2=x^2-2x+1                             x^2-1=(x-1)(x+1) @ x^3-1=(x-1)(x^2+x+1)
2(x+1)=2x+2 @ 3(x+2)=3x+6       x^2+x+1=x^2+x+2 @ x^3=x^3+1     x^2-2x+5=0 @ x^2-2x+10=0        (x+1)^2=-4 @ (x+2)^2=-9
0x<1 @ 0x<2                     x-x>1 @ y-y>2                   x<x+1 @ x<x+2
"""
UNSOLVABLE_BY_SYMPY = r"""
x^2+1=0 @ e^x=-1                e^x=0 @ e^{2x}=-1               e^x=-1 @ e^x=-2
|x|=-1 @ |x|=-2                 \sqrt{x}=-1 @ \sqrt{x}=-2       2^x=-4 @ 2^x=-8
\sin{x}=2 @ \sin{x}=3           \cos{x}=2 @ \sin{x}=2           \sqrt{x}+3=0 @ \sqrt{x+1}+2=0
"""
EQUAL = r"""
x^2-3x+10=0 @ 2x^2-6x+20=0      x^2+1=0 @ 3x^2=-3               x=9 @ \frac{1}{x}=\frac{1}{9}
x=9 @ 30-2x=12                  x^2=5x-6 @ (x-3)(x-2)=0         x^2-6x+9=0 @ x=3
4=4 @ 2+2=4                     a=a @ 2a=2a                     xy=1 @ y=\frac{1}{x}
x+2y=7 @ \frac{x}{y}+2-7/y=0    e^x(x-1)=0 @ x=1                2^{-x}(x^2-4)=0 @ x^2=4
y=e^x @ 2y=2e^x                 \sin{x}=\frac12 @ 2\sin{x}=1    y=500(\frac34)^n @ y=500\cdot0.75^n
\frac{6}{(x+1)^2}+\frac{2}{2x}+2=0 @ \frac{6}{(x+1)(x+1)}+\frac{3}{3x}+2=0
a=\frac{b}{2}+5 @ 1=\frac{b}{2a}+\frac{5}{a}
1<2x\le3 @ 3\ge2x>1             1<2x\le3 @ 1/2<x\le1.5          -5<3x+7\le22 @ -10<6x+14\le44
-4<2x-8\le10 @ 5\ge-4+x>-2      -5\le3-2z\le5 @ 4\ge{z}\ge-1    -99\le9-12r\le45 @ -3\le{r}\le9
0<3x\le33 @ 66\ge6x>0           x<y<z @ z>y>x                   a<b\le{c} @ 2c\ge2b>2a
-1<x-y<1 @ -2<2x-2y<2           a\ne{b} @ 2b\ne2a               x+y<3 @ 2x+2y<6
-3<2x+5<17 @ -4<x<6             0\le\frac{x}{3}-1<2 @ 3\le{x}<9 1<-x<2 @ -2<x<-1
"""
DIFFERENT = r"""
x+2y=7 @ x^2+2yx-7x=0           y=x @ y=2x                      y=e^x @ y=e^{2x}
x=3 @ (x-3)(x-4)=0              xy=0 @ x=0                      f=4^g @ f=4^{g-1}
y^2=\frac{xy}{2}+5y @ y=\frac{x}{2}+5   a=a @ 12=12             a=a @ a=0
1<2x\le3 @ 1/2<x\le1.5<7        1<2x\le3 @ 1/2<x<1.5            1<2x\le3 @ 1<2y\le3             0<3x\le33 @ 0<4x\le22
-5<3x+7\le22 @ -5<3x+7<22       x<y<z @ x<z<y                   a<b\le{c} @ a\le{b}<c
1<2x<10 @ 1<2x>10               -1<x-y<1 @ -1<x+y<1             1<-x<2 @ 1<x<2
a\ne{b}\ne{c} @ c\ne{d}\ne{e}   0<3x\le33 @ 66\ge6x>1           x<y<z @ x<y<2z
"""
HEDGED = """(B) is wrong; C|(B) is wrong, C|(B) is not right|B. C|B: no, C|(B); (C)|(B) but maybe C|B) wrong. Answer: C
C|(B) isn't it, C|(B) 5; C: 7|B. 5, C. 7|B or C|(B) is false: C|(B) no, the answer is C|(B) rather than C|(B), C|B, C
(B) then C|(A) B|B is wrong|(B) was my first idea; it is C|(B)(C)|(B) C|B. 2 C. 3 D. 4|B) 2 C) 3|b. 2 c. 3|B: $2 C: $3
B.2 C.3|A. 1 B. 2 C. 3 D. 4|letter C|the letter B or C|B. 2 A. 1|b) 2 c) $3$"""
CHOSEN = r"""(B) 12|B. 12|(B) The cat sat|B: Paris|(B) False|B) 5 cm|(B) x = 3, y = 4|(B) is correct|(B) is the answer
(B) $\frac{1}{2}$|**B**|\textbf{(B)}\ 12|(B) Vitamin C|(B) is the correct answer.|Option B|Answer: (B) 12
(B) A triangle|letter b|The letter B|the answer (B)|Letter (b)|B. Paris, the capital of France.|B. 3 a.m.|B. i.e. both
B. 5 c. of salt|B) (a+b)/2|B) $\frac{(a+b)}{2}$|B) \sin(2a)=1|B) 2(x+a)(x-a)|B: a:b = 1:2|B) f(a) = 3|B. E. coli
B. J. S. Bach|B) (x + C) = 3|B) \sin(c) = 1|(B) E. coli is the cause"""


def cells(table):
    return [cell.split(" @ ") for line in table.strip().split("\n") for cell in line.split("    ")]


def pairs(table):
    words = table.split()
    return [
        (gold, answer) for place, gold in enumerate(words) if words[place + 1 : place + 2] == ["@"]
        for answer in [words[place + 2]]
    ]  # fmt: skip


def accepted(table):
    both = [pair for gold, answer in pairs(table) for pair in ((gold, answer), (answer, gold))]
    return [(gold, answer) for gold, answer in both if grade(answer, gold).right], len(both)


SAME_SETS = r"""
|x|<2 @ -2<x<2    |x|>2 @ x<-2 or x>2    |x|\ne 2 @ x\ne 2 and x\ne -2    |\frac{3-x}{2}|<1 @ 1<x<5
x<1, x>1 @ x\ne 1    2x<1 or 3x\ge 6 @ x<1/2 or x\ge 2    x<1 and x>2 @ x>2 and x<1    2>|x-3| @ 1<x<5
\{\} @ \emptyset
"""
SOLUTIONS = r"""
|x|<2 @ (-2,2)    |x-1|\le 3 @ [-2,4]    |2x-1|\ge 3 @ (-\infty,-1]\cup[2,\infty)
1<|x|<2 @ (-2,-1)\cup(1,2)    |x|<\sqrt2 @ (-\sqrt2,\sqrt2)    |x|\le 0 @ x\in\{0\}    3-2x<7 @ (-2,\infty)
-3<1-2x\le 5 @ [-2,2)
"""
OTHER_SETS = r"""
x>2 and x<1 @ x>5 and x<4    x>2 and x<1 @ \emptyset    (1,2)\cap(3,4) @ (5,6)\cap(7,8)    |x|<2 @ -2<x\le 2
|x|<2 @ |y|<2    |x|>2 @ x<-2 and x>2    |x|<2 @ |x|\le 2    3-2x<7 @ (-\infty,-2)    1<|x|<2 @ (1,2)
|x|<2 @ x<2    2x<1 or 3x\ge 6 @ x<1/2 or x>2
"""


def test_sets_of_real_numbers_are_equal_in_any_form_but_not_because_both_are_empty():
    for table, right in ((SAME_SETS, True), (OTHER_SETS, False)):
        assert not [row for row in cells(table) if grade(*row).right != right or grade(*row[::-1]).right != right]


def test_a_condition_that_is_not_solved_is_no_answer_where_the_gold_is_an_interval():
    for condition, solution in cells(SOLUTIONS):
        assert grade(solution, condition).right
        assert not grade(condition, solution).right


def test_equations_that_are_never_or_always_true_are_not_equal_for_that():
    assert accepted(UNSOLVABLE) == ([], 90)


@pytest.mark.full  # sympy solves them
def test_equations_with_functions_that_are_never_true_are_not_equal_for_that():
    assert accepted(UNSOLVABLE_BY_SYMPY) == ([], 18)


def test_equations_and_inequalities_may_be_transformed():
    found, count = accepted(EQUAL)
    assert count == 64
    assert len(found) == count, {*pairs(EQUAL)} - {*found}


def test_other_equations_and_inequalities_are_not_equal():
    assert accepted(DIFFERENT) == ([], 44)


@pytest.mark.parametrize("gold", ["B", "(B)", r"\text{B}"])
def test_a_choice_may_have_its_text_and_is_not_another_one(gold):
    assert not [answer for answer in HEDGED.replace("\n", "|").split("|") if grade(answer, gold).right]
    assert not [answer for answer in CHOSEN.replace("\n", "|").split("|") if not grade(answer, gold).right]
