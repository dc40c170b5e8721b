import { expect, test } from "vitest";
import { Api, ApiError } from "../src/core/api.ts";
import { Conversation } from "../src/core/conversation.ts";
import { explain } from "../src/core/problems.ts";
import { newThread } from "../src/core/threads.ts";
import type { ChatRequest, StreamEvent } from "../src/core/wire.ts";

class FakeApi extends Api {
  requests: ChatRequest[] = [];
  constructor(private readonly script: (request: ChatRequest) => (StreamEvent | Error)[]) { super({ base: "http://x/" }); }
  override async *ask(request: ChatRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    this.requests.push(request);
    for (const event of this.script(request)) {
      await Promise.resolve();
      if (signal.aborted) throw new DOMException("", "AbortError");
      if (event instanceof Error) throw event;
      yield event;
    }
  }
}
const done = { type: "done", metadata: {}, response: { answer: "A. [1]", sources: [] } } as unknown as StreamEvent;
const chunk = (content: string): StreamEvent => ({ type: "chunk", content, citations: [1] });

test("sentences add up, and the whole answer replaces them", async () => {
  const seen: string[] = [];
  const talk = new Conversation(new FakeApi(() => [chunk("A."), chunk(" [1]"), done]), newThread("b"), (turn) => seen.push(`${turn.status}:${turn.text}`));
  const turn = await talk.ask({ text: "q" });
  expect(seen).toEqual(["streaming:", "streaming:A.", "streaming:A. [1]", "done:A. [1]", "done:A. [1]"]);
  expect(turn.cited).toEqual([1]);
  expect(talk.busy).toBe(false);
});
test("stop keeps what arrived", async () => {
  const talk = new Conversation(new FakeApi(() => [chunk("A."), chunk("B."), done]), newThread("b"), (turn) => turn.text === "A." && talk.stop());
  expect(await talk.ask({ text: "q" })).toMatchObject({ status: "stopped", text: "A." });
});
test("an error event fails the turn, and retry asks again in its place", async () => {
  let fail = true;
  const api = new FakeApi(() => (fail ? [chunk("A."), { type: "error", error_code: "shutting_down", message: "bye" }] : [done]));
  const talk = new Conversation(api, newThread("b"), () => undefined);
  const turn = await talk.ask({ text: "q" });
  expect(turn).toMatchObject({ status: "failed", error: { code: "shutting_down" } });
  fail = false;
  await talk.retry(turn);
  expect(turn).toMatchObject({ status: "done", error: undefined });
  expect(talk.thread.turns).toHaveLength(1);
});
test("a follow-up goes to the same session", async () => {
  const api = new FakeApi(() => [done]);
  const talk = new Conversation(api, newThread("b"), () => undefined);
  await talk.ask({ text: "one", filters: { module: "ros2" } });
  await talk.ask({ text: "two", filters: {} });
  expect(api.requests[0]).toMatchObject({ query: "one", book_id: "b", filters: { module: "ros2" } });
  expect(api.requests[1]!.session_id).toBe(api.requests[0]!.session_id);
  expect(api.requests[1]!.filters).toBeUndefined();
});
test("a selection that the server can't find on its page is asked about without its place", async () => {
  const api = new FakeApi((request) => (request.selection ? [new ApiError("validation_error", "extra", { fields: ["selection"] })] : [done]));
  const talk = new Conversation(api, newThread("b"), () => undefined);
  const place = { page_url: "http://p/", char_start: 1, char_end: 2 };
  expect((await talk.ask({ text: "q", selectedText: "x", place })).status).toBe("done");
  expect(api.requests.map((request) => Boolean(request.selection))).toEqual([true, false]);
  expect(api.requests[1]).toMatchObject({ mode: "selected_text", selected_text: "x" });
  await talk.ask({ text: "again", selectedText: "x", place });
  await talk.ask({ text: "elsewhere", selectedText: "x", place: { ...place, page_url: "http://p/2" } });
  expect(api.requests.map((request) => request.selection?.page_url)).toEqual(["http://p/", undefined, undefined, "http://p/2", undefined]);
});
test("errors are explained in plain words, with a way on", () => {
  for (const code of ["unreachable", "interrupted", "shutting_down", "rate_limited", "overloaded", "retrieval_unavailable", "model_unavailable", "storage_unavailable",
    "unauthorized", "forbidden", "not_found", "payload_too_large", "embedder_mismatch", "internal_error", "validation_error", "http_418"]) {
    const problem = explain(new ApiError(code, "some field: is wrong"));
    expect(problem.title).toMatch(/^[A-Z].*\.$/);
    expect(problem.advice).toMatch(/^[A-Z].*\.$/);
    expect(problem.title + problem.advice).not.toMatch(/_|undefined|HTTP/);
  }
  expect(explain(new ApiError("rate_limited", "", { retryAfter: 7 })).advice).toBe("You can ask again in 7 seconds.");
});
