import pytest

from gateway.errors import PatternError
from gateway.turn.patterns.expression import Expression, Scope

SCOPE = Scope(
    results=(
        {"tool": "internet.research", "args": {}, "ok": True, "text": "", "data": {"items": [1, 2]}},
        {"tool": "test.run", "args": {"target": "t.py"}, "ok": False, "text": "1 failed", "data": {"failed": 1}},
    ),
    context={"memory": []},
)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("last.ok", False),
        ("last.args.target", "t.py"),
        ("results[0].data.items", [1, 2]),
        ("results[0].data.items | length", 2),
        ("results | selectattr('tool', 'equalto', 'test.run') | list | length", 1),
        ("'failed' in last.text and last.data.failed > 0", True),
        ("context.memory or state.anything", None),
        ("last.data.missing.deeper", None),
        ("last.data.missing > 3", None),
        ("last.text.upper", None),
        ("last.__class__", None),
        ("1 // 0", None),
        ("(results | selectattr('args.target') | last).args.target", "t.py"),
        ("results | selectattr('args.nothing') | last", None),
    ],
)
def test_the_value_is_that_of_the_data_or_none(source: str, value: object) -> None:
    assert Expression(source).value(SCOPE) == value


def test_nothing_holds_before_the_first_result() -> None:
    assert not Expression("last.ok").holds(Scope())
    assert Expression("not last.ok").holds(Scope())


@pytest.mark.parametrize(
    "source",
    [
        *("", "last |", "9" * 490 + " +", "(" * 240 + ")" * 240, "x" * 501),
        *("lst.ok", "open", "last.text.upper()", "range(9)", "last.text | attr('x')"),
        *("9 ** 9 ** 9", "'a' * 9999999", "'%999999999d' % 1"),
    ],
)
def test_what_is_no_plain_expression_is_refused(source: str) -> None:
    with pytest.raises(PatternError):
        Expression(source)


def test_a_misspelt_name_gets_the_nearest() -> None:
    with pytest.raises(PatternError, match="Did you mean 'results'"):
        Expression("result | length")
