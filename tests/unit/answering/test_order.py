import pytest

from quire.answering.order import reading_order
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
    ],
)
def test_definitions_are_read_first_and_lists_of_changes_last(
    question: str, text: str, place: int
) -> None:
    assert reading_order(question, make_chunk(text)) == place
