"""Missing imports: names of the standard library that a program uses without importing them.

Data sets of exercises give such programs as solutions, and gem-llm runs them: their authors wrote for sites that import
these names for everybody.
"""

import ast
import builtins

_FROM = {
    "typing": "Any Callable DefaultDict Deque Dict FrozenSet Generator Iterable Iterator List Optional Sequence Set "
    "Tuple Union",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "itertools": "accumulate chain combinations combinations_with_replacement count cycle groupby islice pairwise "
    "permutations product repeat takewhile zip_longest",
    "functools": "cache cmp_to_key lru_cache partial reduce",
    "heapq": "heapify heappop heappush heappushpop heapreplace nlargest nsmallest",
    "bisect": "bisect_left bisect_right insort",
    "math": "ceil comb factorial floor gcd inf isqrt lcm log log10 log2 pi prod sqrt",
    "operator": "itemgetter",
    "copy": "deepcopy",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits",
    "random": "randint randrange shuffle",
}
_MODULES = "bisect collections copy datetime functools heapq io itertools math operator os random re string sys time"
_IMPORTS = {
    **{name: f"import {name}" for name in _MODULES.split()},
    **{name: f"from {module} import {name}" for module, names in _FROM.items() for name in names.split()},
}


def with_imports(source: str) -> str:
    """A Python program with the imports that it lacks in front of it, each on a line of its own."""
    if not any(name in source for name in _IMPORTS):
        return source
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source  # running it will tell
    used, bound = set[str](), set(dir(builtins))
    future = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update((each.asname or each.name).partition(".")[0] for each in node.names)
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                future = node.end_lineno or 0
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    if "*" in bound:
        return source
    lines = source.splitlines(keepends=True)
    lacking = [f"{_IMPORTS[name]}\n" for name in sorted(used - bound) if name in _IMPORTS]
    return "".join([*lines[:future], *lacking, *lines[future:]]) if lacking else source
