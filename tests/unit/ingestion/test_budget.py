from __future__ import annotations

from quire.ingestion.budget import Budget, estimate, letters_weight
from quire.ingestion.packing import pack
from quire.ingestion.pieces import Piece, statement_ranges


def piece(size: int, *, words: str = "w", opens: bool = False, listed: bool = False) -> Piece:
    return Piece("paragraph", 0, 1, words, size, opens, False, listed)


def test_small_texts_are_never_counted() -> None:
    calls: list[str] = []

    def count(text: str) -> int:
        calls.append(text)
        return estimate(text)

    budget = Budget(256, count)
    calls.clear()
    assert budget.fits("A short text.", budget.size("A short text."))
    assert calls == []
    long = "word " * 180
    assert budget.fits(long, 250)
    assert budget.fits(long, 250)
    assert len(calls) == 1


def test_a_tokenizer_that_counts_more_scales_the_estimate() -> None:
    assert Budget(256, len).size("some words here") > 2 * Budget(256, estimate).size(
        "some words here"
    )


def test_cutting_stops_at_a_word_within_the_limit() -> None:
    budget = Budget(34, lambda text: len(text.split()))
    assert budget.cut("one two " * 40, 999) == ("one two " * 16).strip()


def test_ranges_tile_and_prefer_white_space() -> None:
    budget = Budget(256, estimate)
    text = "alpha beta gamma " * 50
    ranges = budget.cut_ranges(text, 0, len(text), 20)
    assert [end for _, end in ranges[:-1]] == [start for start, _ in ranges[1:]]
    assert (ranges[0][0], ranges[-1][1]) == (0, len(text))
    assert all(
        text[start:end].strip().split()[0] in ("alpha", "beta", "gamma") for start, end in ranges
    )
    solid = "漢" * 500
    assert len(budget.cut_ranges(solid, 0, len(solid), 50)) >= 10


def test_other_languages_weigh_more_per_letter() -> None:
    english = "The robot moves to the door and the sensor of the arm is on. " * 5
    german = "Der Roboter und die Tür, der Sensor und ein Arm, die Hand und der Fuß. " * 5
    assert letters_weight(german, "en") > letters_weight(english, "en")
    assert letters_weight(english, "de") > letters_weight(english, "en")


def test_packing_is_even_and_keeps_what_belongs_together() -> None:
    sizes = [[p.size for p in unit] for unit in pack([piece(40)] * 6, 100)]
    assert sizes == [[40, 40], [40, 40], [40, 40]]
    kept = pack([piece(80), piece(5, opens=True), piece(60)], 100)
    assert [[p.size for p in unit] for unit in kept] == [[80], [5, 60]]
    listed = pack([piece(60), *[piece(15, listed=True)] * 5], 100)
    assert [[p.size for p in unit] for unit in listed] == [[60], [15] * 5]


def test_statements_stay_with_their_bodies() -> None:
    code = "import a\n\n@wrap\ndef f():\n    x\n\n    y\n\n\nclass B:\n    z\n"
    parts = [code[start:end] for start, end in statement_ranges(code, 0, len(code))]
    assert "".join(parts) == code
    assert [part.split("\n")[0] for part in parts] == ["import a", "@wrap", "class B:"]
