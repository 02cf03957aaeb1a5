"""An answer that only repeats a formula of the question is wrong, whatever its value."""

import pytest

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
        (r"Simplify $\sqrt{48}$.", r"\sqrt{16\cdot 3}", r"4\sqrt{3}"),
        (r"It costs \$5 and $x$ more, \$8 in total.", "5 and", "3"),
    ],
)
def test_another_answer_is_not_a_copy(question, answer, gold):
    assert not is_copied(answer, question, [gold])


@pytest.mark.parametrize(("settings", "reward", "rule"), [({}, 0.0, True), ({"accept_copies": True}, 1.0, False)])
def test_a_copy_earns_nothing_unless_the_env_accepts_copies(settings, reward, rule):
    env = MathQuestion([{"problem": r"Add: $\frac{1}{2}+\frac{1}{3}$.", "answer": r"\frac{5}{6}"}], **settings)
    env.reset(seed=0)
    step = env.step(r"\boxed{\frac{1}{2}+\frac{1}{3}}")
    assert (step.reward, step.info["rule"] == "copied") == (reward, rule)
