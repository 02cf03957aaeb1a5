"""An answer that only repeats a formula of the question is wrong, whatever its value."""

import pytest

from gem.data import open_table
from gem_envs_math.copied import is_copied
from gem_envs_math.questions import MathQuestion


@pytest.mark.parametrize(
    ("question", "answer", "gold"),
    [
        (r"Simplify $\sqrt{48}$.", r"\sqrt{48}", r"4\sqrt{3}"),
        (r"Factorise $x^2-1$.", r"x^2 - 1", "(x-1)(x+1)"),
        (r"Factorise \(x^2-1\).", r"$x^2-1$", "(x-1)(x+1)"),
        (r"Simplify \[\frac{x}{x^2}.\]", r"\dfrac{x}{x^2}", r"\frac{1}{x}"),
        (r"Write $\frac{7}{16}$ as a decimal.", r"\dfrac{7}{16}", "0.4375"),
        (r"Write $$\frac12$$ as a decimal.", r"\frac{1}{2}", "0.5"),
        (r"Write $\frac{7}{16}$ as a decimal.", "7/16", "0.4375"),
        (r"Expand $(x+1)^2$.", "y=(x+1)^2", "x^2+2x+1"),
        (r"Factorise $x^2-1$.", "(x^2-1)", "(x-1)(x+1)"),
        (r"Factorise $f(x)=x^2-1$.", "{x^2-1}", "(x-1)(x+1)"),
        (r"Solve $2x+1<7$.", r"2x + 1 < 7", "x<3"),
        (r"Expand $\left(x+1\right)^2$.", r"(x+1)^2", "x^2+2x+1"),
        (r"Expand $(x+1)^2$.", "(x+1)(1+x)", "x^2+2x+1"),
        (r"Expand $(x+1)^2$.", r"\sqrt{((x+1)^2)^2}-0", "x^2+2x+1"),
        (r"Factorise $x^2-1$.", "x\\cdot x+2-3", "(x-1)(x+1)"),
        (r"Simplify $\sqrt{48}$.", r"\sqrt{16\cdot 3}", r"4\sqrt{3}"),
        (r"Solve $5-2x<11$.", "-2x<6", "x>-3"),
        (r"Solve $5-2x<11$.", "11-(5-2x)>0", "x>-3"),
        (r"Write $3y-6x=9$ in slope-intercept form.", "3y=9+6x", "y=2x+3"),
        ("Write 45\\% as a decimal.", r"45.0\%", "0.45"),
        ("Write $45\\%$ as a fraction.", r"45\%+0", r"\frac{9}{20}"),
        ("Expand (x + 1)(x - 2).", "(x-2)(x+1)", "x^2 - x - 2"),
        ("Simplify 3x + 5 - x.", "5 + 3x - x + 0", "2x + 5"),
        (r"Evaluate $\displaystyle\int_0^1 x^2\,dx$.", r"\int_0^1 x\cdot x\,dx", r"\frac{1}{3}"),
        (r"Find $\sum_{k=1}^{n} k$.", r"\sum_{i=1}^n i", r"\frac{n(n+1)}{2}"),
        (r"What is $\gcd(12,18)\cdot x$?", r"x\gcd(18,12)", "6x"),
        ("Solve $2x=4$.", "2x=4", "x=2"),
        ("Solve $2x=4$.", "x+x=4", "x=2"),
        ("Rewrite $y-2x=1$ in slope-intercept form.", "1=-2x+y", "y=2x+1"),
        ("Solve $4=2x$.", "2x=4", "x=2"),
        ("Solve $2x+1=x+3$.", "2x+1-x-3=0", "x=2"),
        ("Solve $x^2=9$.", "9=x^2", r"x=\pm 3"),
        (r"Simplify $\sqrt{48}$.", "48^{1/2}", r"4\sqrt{3}"),
        (r"Simplify $\sqrt{48}$.", "(16*3)^0.5", r"4\sqrt{3}"),
        (r"Simplify $\sqrt[3]{54}$.", r"54^{\frac13}+0", r"3\sqrt[3]{2}"),
        (r"Rationalise $\frac{1}{\sqrt{2}}$.", "2^{-1/2}", r"\frac{\sqrt{2}}{2}"),
        (r"Write $\sqrt{x}$ as a power.", r"\sqrt{x}", r"x^{\frac12}"),
    ],
)
def test_a_formula_of_the_question_is_a_copy(question, answer, gold):
    assert is_copied(answer, question, [gold])


@pytest.mark.parametrize(
    ("question", "answer", "gold"),
    [
        (r"Which is larger, $\sqrt{48}$ or $7$?", "7", "7.0"),
        (r"Which is larger, $\sqrt{48}$ or $\frac{27}{4}$?", r"\sqrt {48}", r"\sqrt{48}"),
        (r"Which is larger, $0.7$ or $\frac{3}{4}$?", r"\dfrac{3}{4}", r"\frac34"),
        (r"If $x=2$, what is the root of $3x-6$?", "x=2", "2"),
        (r"Solve $x^2-1=0$ for $x>0$.", "x = 1", "1.0"),
        (r"Give the vertex of $y=(x-1)^2$. Is it $(1,0)$?", "(1, 0)", "(1,0)"),
        (r"Is $y=2x+1$ the tangent?", "2x + 1", "y=2x+1"),
        (r"Simplify $\sqrt{48}$.", r"\sqrt{4}\sqrt{12}", r"4\sqrt{3}"),
        (r"Simplify $3x+5-x$.", "5+2x", "2x+5"),
        (r"Let $f(x)=x^2+1$. What is $f(x)^2$?", "(x^2+1)^2", "x^4+2x^2+1"),
        (r"Write $0.00000472$ in scientific notation.", "4.72e-6", r"4.72\times 10^{-6}"),
        (r"A bottle holds $0.5$ litres. How many are in it if it is full?", "0.5", r"\frac{1}{2}"),
        (r"The price falls by $20\%$. By what percent must it rise to fall by $20\%$ of that again?", r"20\%", "20"),
        (r"Let $Q(t)$ be the amount. Find $Q(t)$.", "30-t = Q(t)", "Q(t)=30-t"),
        (r"Express $\sum_{k=1}^{n} 2k$ as another sum.", r"2\sum_{k=1}^{n} k", r"\sum_{k=1}^n (k+k)"),
        ("What is the derivative of x^2 + 2x?", "2 + 2x", "2x + 2"),
        ("Solve $2x=4$.", "x=2", "x=2"),
        ("Rewrite $y-2x=1$ in slope-intercept form.", "1+2x=y", "y=2x+1"),
        ("Solve $2x=4$.", "4x=8", "x=2"),
        ("What is $2+3$?", "2+3=5", "5"),
        ("What is $(p,q)$, if $p=3$ and $q=2$?", "(p, q) = (3, 2)", "(3,2)"),
        (r"What is $\int_0^1 x^2\,dx$?", r"\int_0^1 x^2\,dx=\frac{1}{3}", r"\frac13"),
        (r"Write $\sqrt{x}$ as a power.", "x^{0.5}", r"x^{\frac12}"),
        (r"Simplify $\sqrt{48}$.", r"4\cdot 3^{1/2}", r"4\sqrt{3}"),
        (r"It costs \$5 and $x$ more, \$8 in total.", "5 and", "3"),
        ("It costs $5 and $x$ more, $8 in total.", "5 and", "3"),
    ],
)
def test_another_answer_is_not_a_copy(question, answer, gold):
    assert not is_copied(answer, question, [gold])


TASKS = [
    (r"Expand $(x+1)(x-3)$.", "(x+1)(x-3)", "x^2-2x-3"),
    (r"Expand $(2a-b)^3$.", "(2a-b)^3", "8a^3-12a^2b+6ab^2-b^3"),
    (r"Factor $6x^2+7x-3$.", "6x^2+7x-3", "(3x-1)(2x+3)"),
    (r"Factor $ax+bx+ay+by$.", "ax+bx+ay+by", "(a+b)(x+y)"),
    (r"Simplify $\frac{x^2-4}{x+2}$ for $x>0$.", r"\frac{x^2-4}{x+2}", "x-2"),
    (r"Simplify $\frac{1}{x}+\frac{1}{x+1}$.", r"\frac{1}{x}+\frac{1}{x+1}", r"\frac{2x+1}{x(x+1)}"),
    (r"Combine like terms: $4x-3y+x+7y$.", "4x-3y+x+7y", "5x+4y"),
    (r"Rationalise $\frac{1}{\sqrt{3}-\sqrt{2}}$.", r"\frac{1}{\sqrt{3}-\sqrt{2}}", r"\sqrt{3}+\sqrt{2}"),
    (r"Simplify $\frac{\sin 2x}{2\cos x}$.", r"\frac{\sin 2x}{2\cos x}", r"\sin x"),
    (r"Simplify $\ln(e^3 x)-\ln x$.", r"\ln(e^3 x)-\ln x", "3"),
    (r"Simplify \(i^{15}+2i^2\).", "i^{15}+2i^2", "-2-i"),
    (r"Work out \[(2-\sqrt{3})^2.\]", r"(2-\sqrt{3})^2", r"7-4\sqrt{3}"),
]
SAMPLE_TASKS = {
    "negative-integer-02": r"5-3\,(2-(-4))^2\div 4",
    "decimal-02": r"\frac{7}{16}",
    "decimal-03": r"0.03\times 0.7",
    "fraction-01": r"\frac{3}{8}+\frac{5}{12}",
    "fraction-03": r"0.\overline{36}",
    "fraction-06": r"\int_0^1 x^2(1-x)\,dx",
    "fraction-10": r"\lim_{x\to 0}\frac{\sqrt{x+4}-2}{x}",
    "fraction-12": r"\sum_{k=1}^{20}\frac{1}{k(k+1)}",
    "mixed-number-01": r"\frac{47}{6}",
    "ratio-01": r"84:126",
    "quantity-03": r"2.5\text{ m}^2",
    "radical-01": r"\sqrt{72}+\sqrt{50}",
    "radical-03": r"\dfrac{6}{\sqrt{7}-1}",
    "radical-07": r"\sin 75^\circ",
    "radical-08": r"\sqrt{11+6\sqrt{2}}",
    "radical-11": r"\sqrt[3]{250}",
    "multiple-of-pi-07": r"\arccos\left(-\frac{\sqrt{3}}{2}\right)",
    "logarithm-02": r"\int_2^6\frac{dx}{x}",
    "logarithm-06": r"\int_0^2 x\,e^x\,dx",
    "power-01": r"0.00000472",
    "power-02": r"(3\times 10^5)(4\times 10^7)",
    "power-04": r"8^5\cdot 4^3",
    "power-05": r"\dfrac{27^4}{9^2}",
    "complex-number-01": r"(3-2i)(4+5i)",
    "complex-number-02": r"\dfrac{5+i}{1-i}",
    "complex-number-03": r"i^{2027}",
    "complex-number-04": r"(1+i)^7",
    "complex-number-08": r"4(\cos 120^\circ+i\sin 120^\circ)",
    "expression-01": r"(2x-3)(x^2+x-4)",
    "expression-02": r"\dfrac{x^2-9}{x^2-x-6}",
    "factorisation-01": r"x^2+4x-21",
    "factorisation-02": r"6x^2-7x-20",
    "factorisation-03": r"x^4-81",
    "factorisation-04": r"x^3+2x^2-5x-6",
    "factorisation-05": r"x^3-8",
    "factorisation-06": r"8a^3-27b^3",
    "inequality-01": r"5-2x<11",
    "inequality-02": r"3(x+4)\le 5x-2",
    "infinity-01": r"\lim_{x\to\infty}\frac{x^3}{x^2+1}",
    "infinity-03": r"\int_1^{\infty}\frac{dx}{\sqrt{x}}",
}
"""Rows of the sample that ask to transform a formula, and that formula."""
REWRITINGS = [
    "{0}+0",
    "0+{0}",
    r"1\cdot({0})",
    r"\left({0}\right)\cdot 1",
    r"\frac{{{0}}}{{1}}",
    "--({0})^1",
    "{0}+1-1",
    r"\frac{{2({0})}}{{2}}",
]


def rewritings_that_are_right(tasks):
    for question, formula, gold in tasks:
        assert is_right(question, gold, gold), question
        yield from (copy for each in REWRITINGS if is_right(question, copy := each.format(formula), gold))


def test_a_rewriting_of_a_formula_to_transform_is_wrong_and_the_gold_is_right():
    assert list(rewritings_that_are_right(TASKS)) == []


@pytest.mark.full  # math-verify looks at integrals and limits
def test_of_416_rewritings_none_is_right():
    rows = {row["id"]: row for row in open_table("gem_envs_math:sample.jsonl")}
    tasks = [(rows[id]["problem"], formula, rows[id]["answer"]) for id, formula in SAMPLE_TASKS.items()]
    assert (len(tasks) + len(TASKS)) * len(REWRITINGS) == 416
    assert list(rewritings_that_are_right(tasks)) == []


def is_right(question, answer, gold):
    env = MathQuestion([{"problem": question, "answer": gold}])
    env.reset(seed=0)
    return env.step(f"\\boxed{{{answer}}}").info["success"]


@pytest.mark.parametrize(("settings", "reward", "rule"), [({}, 0.0, True), ({"accept_copies": True}, 1.0, False)])
def test_a_copy_earns_nothing_unless_the_env_accepts_copies(settings, reward, rule):
    env = MathQuestion([{"problem": r"Add: $\frac{1}{2}+\frac{1}{3}$.", "answer": r"\frac{5}{6}"}], **settings)
    env.reset(seed=0)
    step = env.step(r"\boxed{\frac{1}{2}+\frac{1}{3}}")
    assert (step.reward, step.info["rule"] == "copied") == (reward, rule)
