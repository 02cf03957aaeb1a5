"""Names around an answer, vectors and matrices, numbers in words. Written for GEM."""

import pytest
from grading_tables import misjudged

from gem_envs_math.grading import grade

NAMES = r"""
right @ (3,2) @ (p,q)=(3,2)   right @ (p,q)=(3,2) @ (3,2)   right @ (p, q) = (3, 2) @ (p,q)=(3,2)
wrong @ (2,3) @ (p,q)=(3,2)   right @ (3,2,7) @ (p,q,r)=(3,2,7)   right @ 1 @ |AB|=1   right @ |AB|=1 @ 1
wrong @ 2 @ |AB|=1   right @ 7:32 @ S_{MBCN}:S=7:32   wrong @ 32:7 @ S_{MBCN}:S=7:32   right @ S_{MBCN}:S=7:32 @ 7:32
right @ x\approx11 @ 11   right @ 11 @ x\approx11   right @ x \approx 11 @ x=11   wrong @ y \approx 11 @ x = 11
right @ \frac{1}{\sqrt{6}} @ \frac{NO}{BO}=\frac{1}{\sqrt{6}}   wrong @ \sqrt6 @ \frac{NO}{BO}=\frac{1}{\sqrt{6}}
right @ 11:21 @ V_{1}:V_{2}=11:21   right @ 1 @ A:B=1   right @ 1 @ f(x)=1   right @ AB=4 @ 4
right @ 4, 5 @ AB=4,CD=5   right @ 2x+3 @ f(x)=2x+3   right @ y=2x+3 @ f(x)=2x+3   right @ f(x)=2x+3 @ y = 2x+3
wrong @ g(x)=2x+4 @ f(x)=2x+3   right @ 2x @ f'(x)=2x   right @ 2x @ \frac{dy}{dx}=2x   right @ 2x @ f^{-1}(x)=2x
right @ 0.3 @ P(X>1)=0.3   right @ 5 @ d(P,l)=5   right @ 60^\circ @ \angle ABC = 60^\circ
right @ 60^\circ @ m\angle ABC=60^\circ   right @ 12 @ [ABC]=12   right @ 12 @ S_{\triangle ABC}=12
right @ 5 @ \overline{AB}=5   right @ 3/5 @ \sin A=\frac35   right @ 5 @ |z|=5   wrong @ |x|=5 @ 5
wrong @ x^2=25 @ 25   wrong @ x^2=25 @ 5   right @ 3 @ a_1=3   right @ a_1 = 3 @ 3   wrong @ a_2=3 @ a_1=3
right @ (1,2,3) @ (x,y,z)=(1,2,3)   right @ x=1, y=2, z=3 @ (1,2,3)   right @ 5 @ AB = 5   right @ 5 @ \text{Area}=5
right @ Area = 5 @ 5   right @ 5 @ Area \approx 5   right @ W(n)=1, W(n)=-1 @ W(n)=-1, W(n)=1   right @ f(2)=5 @ 5
right @ \lambda=2 @ 2   right @ \theta \approx 30^\circ @ 30^\circ   right @ \overrightarrow{AB}=(1,2) @ (1,2)
wrong @ 1 @ x+z=1   wrong @ 1 @ 2x+z=1   wrong @ 0 @ a^2+b=0   wrong @ 11a+c @ 7=11a+c   wrong @ 0 @ a+3z=0
wrong @ 3 @ 2x=3   wrong @ x=4 @ x=3   right @ x(x-1)=6 @ x^2-x-6=0   right @ x(3x+2)=0 @ 3x^2+2x=0
wrong @ y = 3 @ x = 3   right @ x = 2+1 = 3 @ 3   wrong @ x=2+2=3 @ 3
right @ (5, 8), (8, 5) @ (x,y)=(5,8) \text{ and } (8,5)   right @ (x,y)=(5,8) \text{ or } (x,y)=(8,5) @ (5,8),(8,5)
wrong @ (5,8) @ (x,y)=(5,8) \text{ and } (8,5)   right @ 2:3 @ AB:CD=2:3   right @ 2:3 @ a:b=2:3
right @ \frac23 @ \frac{a}{b}=\frac23   wrong @ \frac{CD}{AB}=2 @ \frac{AB}{CD}=2
right @ V(t)=750(1.5)^t @ V(t)=750(\frac32)^t
right @ f[(x,y)]=(\frac{x}{3}-1,y) @ f\left[\left(x,y\right)\right]=\left(\frac{x-3}{3},y\right)
right @ \tan\theta=2 @ \tan\theta=2   right @ 2 @ \tan A=2   right @ y' = 2x @ 2x   right @ \bar{x}=5 @ 5
right @ P_2(x)=x^2 @ x^2   right @ \phi(n)=4 @ 4
"""
VECTORS = r"""
right @ \begin{pmatrix}1&2\\3&4\end{pmatrix}+\begin{pmatrix}5&6\\7&8\end{pmatrix} @ \begin{pmatrix}6&8\\10&12\end{pmatrix}
right @ \begin{pmatrix}1&0\\0&1\end{pmatrix}\begin{pmatrix}1&2\\3&4\end{pmatrix} @ \begin{pmatrix}1&2\\3&4\end{pmatrix}
right @ 2\begin{pmatrix}1\\2\end{pmatrix}-\begin{pmatrix}1\\1\end{pmatrix} @ \begin{pmatrix}1\\3\end{pmatrix}
wrong @ \begin{pmatrix}1&2\\3&4\end{pmatrix}+\begin{pmatrix}5&6\\7&8\end{pmatrix} @ \begin{pmatrix}6&8\\10&13\end{pmatrix}
right @ \begin{pmatrix}1&2\\3&4\end{pmatrix}\begin{pmatrix}0&1\\1&0\end{pmatrix} @ \begin{pmatrix}2&1\\4&3\end{pmatrix}
wrong @ \begin{pmatrix}0&1\\1&0\end{pmatrix}\begin{pmatrix}1&2\\3&4\end{pmatrix} @ \begin{pmatrix}2&1\\4&3\end{pmatrix}
right @ (1,2) @ \begin{pmatrix}1\\2\end{pmatrix}   right @ \begin{pmatrix}1\\2\\3\end{pmatrix} @ (1,2,3)
right @ \begin{pmatrix}1&2&3\end{pmatrix} @ (1,2,3)   right @ [0.5,1] @ \begin{matrix}\frac12\\1\end{matrix}
wrong @ (2,1) @ \begin{pmatrix}1\\2\end{pmatrix}
wrong @ \begin{pmatrix}1\\2\end{pmatrix} @ \begin{pmatrix}1&2\end{pmatrix}
right @ \langle 1,2\rangle @ \begin{pmatrix}1\\2\end{pmatrix}   right @ 1, 2 @ (1,2)   right @ (1,2) @ 1, 2
wrong @ 2, 1 @ (1,2)   wrong @ (2,1) @ 1, 2   wrong @ 1,2,3 @ (1,2)   right @ 3, 1, 4 @ (3,1,4)
right @ i @ \sqrt{-1}   right @ \sqrt{-1} @ i   wrong @ -i @ \sqrt{-1}   right @ 2i @ \sqrt{-4}
right @ i\sqrt3 @ \sqrt{-3}   right @ 1+\sqrt{-2} @ 1+i\sqrt2
"""  # noqa: E501
WORDS = r"""
right @ three @ 3   right @ 3 @ three   right @ Twenty-one @ 21   right @ twenty one @ 21
right @ one hundred and five @ 105   right @ two thousand three hundred @ 2300   right @ two million @ 2000000
right @ one third @ \frac13   right @ two-thirds @ \frac23   right @ three quarters @ 0.75   right @ three apples @ 3
right @ three apples @ 3 apples   right @ \text{three} @ 3   right @ \text{twenty-one} @ 21   wrong @ thirty @ 13
wrong @ three apples @ 3 pears   wrong @ two @ 3   right @ two, three and five @ 2,3,5   right @ minus three @ -3
right @ three and a half @ 3.5   right @ twelve @ 12   wrong @ two three @ 23   right @ one-to-one @ one-to-one
wrong @ one or two @ 1   right @ zero @ 0   right @ x = three @ 3   right @ five percent @ 5\%
"""
FUNCTIONS = r"""
right @ \arccot x @ \cot^{-1}(x)   right @ \arcsec(x) @ \sec^{-1} x   right @ \sin(\arccsc x) @ \frac1x
wrong @ \arccsc x @ \arcsec x   right @ 2\ln x @ 2\ln x   right @ \ln x+\ln y @ \ln y + \ln x
right @ \frac{20,000}{r^2}\ \text{radians} @ \frac{20000}{r^2}\text{radians}
"""
NOTATIONS = r"""
right @ (b/x)•a @ ab/x   right @ a+c+b=g^{-1}(x) @ g^{-1}(x)=a+b+c   right @ h=d(\frac{a}{c}) @ h=\frac{da}{c}
right @ 2x=f(x) @ f(x)=2x   right @ a_{i}=0.5i(2s+di-d) @ a_{i}=1/2i[2s+(i-1)d]   right @ 185\ @ 185
right @ \\dfrac{2}{3} @ \frac23   right @ $\\sqrt{5}$ @ \sqrt5   right @ x^2_1 @ x_1^2   right @ y''_1 @ y_1''
right @ \sinh^{-1}(a) @ \operatorname{arsinh}(a)   right @ \arccosh a @ \cosh^{-1} a
right @ {16 \choose 2} @ 120   right @ |12,123.4| @ 12123.4   right @ \lfloor 12,123.4\rfloor @ 12123
right @ a \negthinspace b @ ab   right @ \bar{x}_2 @ \overline{x}_{2}   right @ [a+b][c+d] @ (a+b)(c+d)
right @ 2[x+1] @ 2x+2   right @ \arctan 1 @ \frac{\pi}{4}   right @ \arg(i) @ \frac\pi2
right @ \operatorname{arccot} 1 @ \pi/4   wrong @ [1,2] @ 1   right @ x \in [1,2] @ [1,2]
right @ \begin{pmatrix}1\\a\end{pmatrix} @ \begin{pmatrix}1\\a\end{pmatrix}
right @ \begin{pmatrix}1\\ab\end{pmatrix} @ \begin{pmatrix}1\\ba\end{pmatrix}
right @ \\begin{pmatrix}1\\\\2\\end{pmatrix} @ \begin{pmatrix}1\\2\end{pmatrix}   right @ f(x)=x^2 @ x^2
right @ \frac{1,000}{3} @ \frac{1000}{3}   wrong @ x_1^2 @ x_2^2   right @ \log_2 8 @ 3   right @ 5 = x @ x=5
right @ |3-5| @ 2
right @ 1,000.99$ @ 1000.99   right @ 28 pct @ 28\%   right @ 28 percentage @ 28\%   right @ \mleft(1+x\mright)2 @ 2x+2
right @ \operatorname{ceil}(12,123.4) @ 12124   right @ x^\binom{n}{k} @ x^{{\binom{n}{k}}}   wrong @ \max(1,200) @ 1200
"""
TABLES = {"names": NAMES, "vectors": VECTORS, "words": WORDS, "functions": FUNCTIONS, "notations": NOTATIONS}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_answers_mean_what_is_around_and_beside_them(table):
    assert not misjudged(table)


def test_a_function_is_compared_where_all_variables_are_positive_and_where_all_are_negative():
    for _ in range(10):
        assert not grade(r"\log{x}+\log{y}", r"\log(xy)").right
        assert grade(r"\log(xy)", r"\log{x}+\log{y}").right
