"""The words that every floor shares."""

from arena.rules.ruleset import Side


def test_each_side_has_the_other() -> None:
    assert Side.MISTER_X.other is Side.DETECTIVES
    assert Side.DETECTIVES.other is Side.MISTER_X
    assert [str(side) for side in Side] == ["mister_x", "detectives"]
