import { expect, test } from "vitest";
import { copyText, placeCitations, sourceTitle } from "../src/core/citations.ts";
import { confidenceWords, refusalWords } from "../src/core/confidence.ts";
import type { Turn } from "../src/core/threads.ts";
import type { ChatResponse, Source } from "../src/core/wire.ts";

const source = (number: number, more: Partial<Source> = {}): Source => ({
  number, source_url: "https://example.org/book/a#b", page_title: "Page", section_heading: "Part", chunk_text: "", quote: "The *quote*.",
  char_start: 0, char_end: 12, line_start: 1, line_end: 1, relevance_score: 1, chunk_id: `c${number}`, source_file: "a.md", ...more,
});
const response = (more: Partial<ChatResponse>): ChatResponse => ({
  answer: "", sources: [source(1), source(2)], mode: "general", metadata: { query_time_ms: 1, chunks_retrieved: 2, model: "m" }, book_id: "b",
  session_id: null, timestamp: "", confidence: 0.93, confidence_level: "high", should_answer: true, refusal_reason: null, clarification: false,
  applied_filters: {}, suggestions: [], standalone_question: "", ...more,
});
function placed(html: string, known: number[]): string {
  const box = document.createElement("div");
  box.innerHTML = html;
  placeCitations(box, new Set(known), (n) => Object.assign(document.createElement("button"), { textContent: String(n) }));
  return box.innerHTML;
}

test("known marks become buttons glued to their word; unknown ones and code stay", () => {
  expect(placed("<p>One two. [1] Three [9]. <code>a[1]</code></p>", [1, 2])).toBe(
    '<p>One <span class="glued">two.<button>1</button></span> Three [9]. <code>a[1]</code></p>');
  expect(placed("<p>x [1][2]</p>", [1, 2])).toContain("<button>1</button></span><span");
});
test("a source's title names page and section once", () => {
  expect(sourceTitle(source(1))).toBe("Page › Part");
  expect(sourceTitle(source(1, { section_heading: "Page" }))).toBe("Page");
});
test("a copied answer carries its quotes and addresses", () => {
  const turn = { text: "Answer. [1]", sources: [source(1), source(2, { source_url: "javascript:x" })] } as Turn;
  const text = copyText(turn, "https://example.org/book");
  expect(text).toContain("[1] Page › Part: “The quote.”\n    https://example.org/book/a#b:~:text=The%20quote.");
  expect(text).not.toContain("javascript");
});
test("confidence is said in words", () => {
  const words = confidenceWords(response({}));
  expect(words.label).toBe("Strong match");
  expect(words.summary).toBe("answered from 2 passages");
  expect(words.explanation).toContain("93 in 100");
  expect(confidenceWords(response({ mode: "selected_text" })).label).toBe("From your selection");
});
test("every refusal has its sentence", () => {
  for (const reason of ["no_passages", "low_confidence", "off_topic", "unsupported_draft", "unsafe_request", null, "new_reason"]) {
    expect(refusalWords(response({ refusal_reason: reason }))).toMatch(/\.$/);
  }
});
