from dataclasses import replace

import pytest

from quire.answering.citations import Ledger, Quote, cite, lines_of, verify_citation
from quire.errors import ModelBehaviourError
from quire.models import Passage
from quire.testing.answering import make_chunk

SOURCE = "---\r\ntitle: x\r\n---\r\nFirst line.\r\nA node is\r\na process. More.\r\n"
CHUNK = make_chunk("First line.\r\nA node is\r\na process. More.", source=SOURCE)
PASSAGE = Passage(number=1, chunk=CHUNK, score=0.8, cosine=0.6)


def quote(text: str) -> Quote:
    start = CHUNK.text.index(text)
    return Quote(passage=PASSAGE, start=start, end=start + len(text))


def test_offsets_and_lines_are_those_of_the_source_file() -> None:
    citation = cite(quote("A node is\r\na process."), 1)
    assert SOURCE[citation.char_start : citation.char_end] == citation.quote
    assert (citation.line_start, citation.line_end) == (5, 6)
    assert citation.source_url == CHUNK.source_url


def test_lines_of_a_quote_that_ends_with_a_newline_stay_on_its_line() -> None:
    assert lines_of("a\nb\nc", 0, 2) == (1, 1)
    assert lines_of("a\nb\nc", 2, 5) == (2, 3)


def test_numbers_follow_first_use_and_equal_quotes_share_one() -> None:
    ledger = Ledger()
    ledger.admit([PASSAGE])
    assert ledger.enter(quote("More.")).number == 1
    assert ledger.enter(quote("First line.")).number == 2
    assert ledger.enter(quote("More.")).number == 1
    assert [c.number for c in ledger.citations] == [1, 2]


def test_a_passage_that_was_not_retrieved_cannot_be_cited() -> None:
    with pytest.raises(ModelBehaviourError):
        Ledger().enter(quote("More."))


@pytest.mark.parametrize(
    "change",
    [
        {"quote": "A node is a process."},
        {"char_start": 0},
        {"char_end": 10_000},
        {"chunk_id": "foreign"},
        {"source_url": "https://evil.example"},
        {"source_file": "other.md"},
    ],
)
def test_a_citation_that_was_tampered_with_never_leaves(change: dict[str, object]) -> None:
    citation = replace(cite(quote("More."), 1), **change)
    with pytest.raises(ModelBehaviourError):
        verify_citation(citation, {CHUNK.id: CHUNK})


def test_a_highlight_outside_the_quote_is_dropped() -> None:
    citation = replace(cite(quote("More."), 1), highlight=(0, 99))
    assert verify_citation(citation, {CHUNK.id: CHUNK}).highlight is None
