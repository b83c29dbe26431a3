"""Secrets and what is derived from them; the values pinned here are promises to stored runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.tournament import seeds

BOTS = st.tuples(st.text(max_size=6), st.text(max_size=6))


def test_a_new_secret_is_new() -> None:
    assert len(seeds.new_secret()) == 32
    assert seeds.new_secret() != seeds.new_secret()


def test_an_open_seed_always_gives_the_same_secret() -> None:
    assert seeds.open_secret("7").hex() == (
        "268444a2ec691526d1365fe6bad2328aa563854189b283cfbf8a46a13a910116"
    )


def test_derived_values_never_change() -> None:
    secret = bytes(range(32))
    assert (
        seeds.deal_seed(secret, 3).hex()
        == "69fa2c36baa73100721f5988ab33269bca7a51fcd2d3470f8859928ba97f062f"
    )
    assert (
        seeds.game_key(secret, "ab" * 10).hex()
        == "593dba138df42e263f99179de8e8a393ba6e0e2b5c16eb95135da8307016a596"
    )
    assert (
        seeds.commitment(secret)
        == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
    )
    assert seeds.game_id("london-2013", 3, ("a", "00"), ("b", "11")) == "a67d566d7604e2f90fb8"


def test_each_use_has_its_own_values() -> None:
    secret = bytes(32)
    values = {seeds.deal_seed(secret, n) for n in range(100)}
    values |= {seeds.game_key(secret, str(n)) for n in range(100)}
    assert len(values) == 200
    assert seeds.deal_seed(bytes(31) + b"\1", 0) not in values


@given(st.tuples(st.text(max_size=6), st.integers(0, 99), BOTS, BOTS), st.data())
def test_games_that_differ_in_anything_have_different_ids(
    game: tuple[str, int, tuple[str, str], tuple[str, str]], data: st.DataObject
) -> None:
    other = data.draw(st.tuples(st.text(max_size=6), st.integers(0, 99), BOTS, BOTS))
    assert (seeds.game_id(*game) == seeds.game_id(*other)) == (game == other)


def test_text_that_moves_from_one_field_to_the_next_changes_the_id() -> None:
    assert seeds.game_id("r", 1, ("ab", "c"), ("d", "e")) != seeds.game_id(
        "r", 1, ("a", "bc"), ("d", "e")
    )
