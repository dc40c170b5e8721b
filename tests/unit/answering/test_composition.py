from markdown_it import MarkdownIt

from quire.answering.composition import Composer
from quire.answering.draft import Segment
from quire.answering.verification import Verifier
from quire.models import Passage
from quire.testing.answering import make_chunk

NESTED = """\
Before the first flight:

1. Check the frame.
   - Tighten the arms.
   - Look for cracks in the plates.
     - Near the motors above all.
2. Charge the batteries.

Then fly over grass.
"""
PASSAGE = Passage(number=1, chunk=make_chunk(NESTED), score=0.9, cosine=0.7)


async def composed(*texts: str) -> str:
    verifier = Verifier([PASSAGE], question="How do I prepare a flight?")
    composer = Composer()
    composer.admit([PASSAGE])
    for text in texts:
        for proven in await verifier.verify(Segment(text=text, passages=(1,))):
            composer.add(proven)
    return composer.text


async def test_a_list_in_a_list_stays_one() -> None:
    text = await composed(
        "1. Check the frame.",
        "- Tighten the arms.",
        "- Look for cracks in the plates.",
        "- Near the motors above all.",
        "2. Charge the batteries.",
    )
    assert text == (
        "1. Check the frame. [1]\n"
        "   - Tighten the arms. [1]\n"
        "   - Look for cracks in the plates. [1]\n"
        "      - Near the motors above all. [1]\n"
        "2. Charge the batteries. [1]"
    ).replace("[1]", "[{}]").format(*range(1, 6))
    lists = [t.type for t in MarkdownIt().parse(text) if t.type.endswith("list_open")]
    assert lists == ["ordered_list_open", "bullet_list_open", "bullet_list_open"]


async def test_entries_of_an_inner_list_alone_are_a_list_of_their_own() -> None:
    text = await composed("- Tighten the arms.", "- Look for cracks in the plates.")
    assert text == "- Tighten the arms. [1]\n- Look for cracks in the plates. [2]"


async def test_a_list_after_prose_starts_at_the_margin() -> None:
    text = await composed("Then fly over grass.", "- Tighten the arms.")
    assert text == "Then fly over grass. [1]\n\n- Tighten the arms. [2]"
