import pytest

from quire.answering.order import far_definition, reading_order
from tests.chunks import make_chunk

NOTES = "* Add a cron job. PR #97 by @ada.\n* Move the cron job. PR #98 by @bob."


@pytest.mark.parametrize(
    ("question", "text", "place"),
    [
        ("What is a cron job?", "Say it again. A cron job is work that a clock starts.", 0),
        ("What is a cron job?", "Start the cron job by hand.", 1),
        ("How do I start a cron job?", "A cron job is work that a clock starts.", 1),
        ("How do I start a cron job?", NOTES, 2),
        ("Who added the cron job?", NOTES, 1),
        ("What is this book about?", "It is about cron jobs.", 1),
    ],
)
def test_definitions_are_read_first_and_lists_of_changes_last(
    question: str, text: str, place: int
) -> None:
    assert reading_order(question, make_chunk(text)) == place


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Say it again. A cron job is the work that a clock starts.", True),
        ("Cron jobs (from Greek) are one of many kinds of work.", True),
        ("Here the cron job is using a clock.", False),
        ("Cron job: events of the clock.", False),
        ("Threads and cron jobs are the building blocks of work.", False),
        ("A cron job of Ada's is a mess.", False),
        ("No, a cron job is a waste of time.", False),
        ("For a cron job, there is a clock.", False),
    ],
)
def test_only_what_is_said_outright_is_worth_having_from_afar(text: str, wanted: bool) -> None:
    far = far_definition("What is a cron job?")
    assert far
    assert far(make_chunk(text)) is wanted


def test_other_questions_want_nothing_from_afar() -> None:
    assert far_definition("How do I start a cron job?") is None
