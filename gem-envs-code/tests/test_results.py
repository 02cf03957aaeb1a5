"""Results of functions: how they leave the sandbox, and when they are right."""

import json
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import IntEnum

import pytest

from gem_envs_code.inside.wire import NotPlain, decode, encode
from gem_envs_code.results import same_result

Pair = namedtuple("Pair", "a b")
Colour = IntEnum("Colour", "RED")
PLAIN = [
    *(
        None,
        True,
        0,
        -1,
        2**70,
        10**5000,
        1.5,
        float("inf"),
        -0.0,
        "",
        "ü\ud800\x00",
        b"\x00\xff",
        bytearray(b"a"),
        3 - 4j,
    ),
    *([], [[1], (2,), {3}], (), {}, {1: {"a": None}, (1, "b"): [2.0]}, set(), frozenset({1, (2, 3)})),
]


def wire(value):
    return json.loads(json.dumps(encode(value)))


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: f"{value!r:.20}" if value != 10**5000 else "long")
def test_plain_data_arrives_as_it_was_and_equals_itself_alone(value):
    found = decode(wire(value))
    assert (found, type(found)) == (value, type(value))
    for same in ("json", "python"):
        assert same_result(wire(value), value, same)
        assert [other for other in PLAIN if same_result(wire(value), other, same)] == [
            other for other in PLAIN if equal(value, other, same)
        ]


def equal(value, other, same):
    """What equality means, for values of which those that are equal differ in their type at the top only."""
    kinds = type(value), type(other)
    if same == "json" and set(kinds) == {list, tuple}:
        return list(value) == list(other)
    return value == other and (same == "python" or kinds[0] is kinds[1] or kinds == (int, float))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(int, {1: 2}), {1: 2}),
        (Pair(1, [2]), (1, [2])),
        (Colour.RED, 1),
    ],
)
def test_a_value_of_a_subclass_is_its_plain_data(value, plain):
    assert decode(wire(value)) == plain
    assert type(decode(wire(value))) is type(plain)


@pytest.mark.parametrize("value", [object(), {}.values(), lambda: 0, [object()], type])
def test_other_values_are_not_plain(value):
    with pytest.raises(NotPlain):
        encode(value)


def test_a_value_that_contains_itself_or_is_nested_too_deeply_is_not_plain():
    loop = []
    loop.append(loop)
    deep = 0
    for _ in range(300):
        deep = (deep,)
    bound = 0
    for _ in range(40):
        bound = {0: [bound]} if isinstance(bound, list) else [bound]
    assert decode(wire(bound)) == bound
    for value in (loop, deep):
        with pytest.raises(NotPlain, match="deeply"):
            encode(value)


@pytest.mark.parametrize(
    ("value", "expected", "json_right", "python_right"),
    [
        (1, True, False, True),
        (True, 1, False, True),
        (1.0, 1, False, True),
        (1, 1.0, True, True),
        ((1, [2]), [1, (2,)], True, False),
        ({1: "a", None: 2}, {"1": "a", "null": 2}, True, False),
        ({"1": "a"}, {1: "a"}, False, False),
        ({True: 1}, {1: 1}, False, True),
        ({1, 2}, {1.0, 2}, False, True),
        (float("nan"), float("nan"), True, False),
        ("1", 1, False, False),
        ([1, 2], [1, 2, 3], False, False),
        ({"a": 1}, {"a": 1, "b": 2}, False, False),
        ({2}, frozenset({2}), True, True),
        (0, None, False, False),
        (0, False, False, True),
        ("", [], False, False),
    ],
)
def test_types_count_as_far_as_the_kind_of_equality_says(value, expected, json_right, python_right):
    assert same_result(wire(value), expected, "json") is json_right
    assert same_result(wire(value), expected, "python") is python_right


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (0.1 + 0.2, True),
        ([0.3001], False),
        (1e9 + 1, False),
        ("0.3", False),
        (True, False),
        (None, False),
        (10**400, False),
    ],
)
def test_numbers_are_right_within_the_tolerance(value, right):
    expected = [0.3] if isinstance(value, list) else 0.3
    assert same_result(wire(value), expected, "json", 1e-6) is right


@pytest.mark.parametrize(
    "forged",
    [
        {"dict": [["a", 1], ["a", 1]]},
        {"dict": 5},
        {"dict": [5, 6]},
        {"set": [[1], [2]]},
        {"set": [1, 1]},
        {"int": "x"},
        {"int": 5},
        {},
        {"a": 1, "b": 2},
        {"object": [0, 0]},
        {"tuple": None},
        {"complex": [1]},
        {"complex": [10**400, 1]},
        {"frozenset": [{"tuple": 3}]},
        {"dict_keys": []},
        {"ndarray": []},
        {"ndarray": [[2], "int64", [1]]},
    ],
)
def test_what_encode_could_not_have_made_is_not_right(forged):
    for expected in ({"a": 1, "b": 2}, {1, 2}, 5, [1], (1,), None, 3j, b"ab", {frozenset({1}): 1}):
        assert same_result(forged, expected, "json") is same_result(forged, expected, "python") is False
