"""The official OpenAI client talks to a book."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import openai
import pytest

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("sample book")]

QUESTION = "How do ROS 2 nodes communicate?"


@pytest.fixture(scope="module")
def client(server: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server}/v1", api_key="unused", max_retries=0) as client:
        yield client


def test_books_are_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["physical-ai"]


def test_a_completion_is_the_cited_answer(client: openai.OpenAI, api: httpx.Client) -> None:
    completion = client.chat.completions.create(
        model="physical-ai",
        messages=[
            {"role": "system", "content": "Answer in French and cite nothing."},
            {"role": "user", "content": QUESTION},
        ],
        temperature=0.3,
    )
    whole = api.post("/chat", json={"query": QUESTION}).json()
    message = completion.choices[0].message
    assert message.content == whole["answer"]
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total_tokens == whole["metadata"]["tokens_used"]
    assert message.annotations
    urls = {source["source_url"] for source in whole["sources"]}
    for annotation in message.annotations:
        citation = annotation.url_citation
        assert citation.url in urls
        cited = whole["answer"][citation.start_index : citation.end_index]
        assert cited in {sentence["text"] for sentence in whole["sentences"]}
    extra = completion.model_extra or {}
    assert extra["quire"]["sources"] == whole["sources"]


def test_a_stream_adds_up_to_the_completion(client: openai.OpenAI, api: httpx.Client) -> None:
    chunks = list(
        client.chat.completions.create(
            model="physical-ai",
            messages=[{"role": "user", "content": QUESTION}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == api.post("/chat", json={"query": QUESTION}).json()["answer"]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert (chunks[-1].choices, chunks[-1].usage is None) == ([], False)
    assert len({chunk.id for chunk in chunks}) == 1


def test_earlier_messages_are_the_history(client: openai.OpenAI) -> None:
    completion = client.chat.completions.create(
        model="physical-ai",
        messages=[
            {"role": "user", "content": "What is a launch file?"},
            {"role": "assistant", "content": "A launch file starts several nodes."},
            {"role": "user", "content": "What does it contain?"},
        ],
    )
    extra = completion.model_extra or {}
    assert "launch" in extra["quire"]["standalone_question"].lower()


def test_errors_have_openais_shape(client: openai.OpenAI, api: httpx.Client) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="none", messages=[{"role": "user", "content": "x"}])
    assert missing.value.code == "not_found"
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(
            model="physical-ai", messages=[{"role": "assistant", "content": "x"}]
        )
    wrong = api.post("/v1/chat/completions", json={"model": "physical-ai", "messages": []})
    assert wrong.status_code == 422
    error = wrong.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", "messages")
