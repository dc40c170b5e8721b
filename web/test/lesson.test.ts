import { expect, test } from "vitest";
import { markWords, paragraphAround, pieces, renderLesson } from "../src/core/lesson.ts";
import type { Chunk } from "../src/core/wire.ts";

const chunk = (text: string, start: number): Chunk => ({ id: String(start), text, char_start: start, char_end: start + [...text].length, source_url: "" });
const marks = (root: ParentNode) => [...root.querySelectorAll("mark")].map((m) => m.textContent).join("|");
function box(html: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = html;
  return element;
}

test("overlapping chunks are shown once, gaps split", () => {
  expect(pieces([chunk("abcdef", 0), chunk("efgh", 4), chunk("xyz", 20)])).toEqual([{ text: "abcdefgh", start: 0 }, { text: "xyz", start: 20 }]);
});
test("offsets count code points across chunks", () => {
  expect(pieces([chunk("🤖🤖ab", 0), chunk("abc", 2)])[0]!.text).toBe("🤖🤖abc");
});
test("the cited words are marked, and nothing else", () => {
  const source = "# Title\n\nFirst one. The *second* sentence, with `code`. Third.\n\nMore.";
  const start = source.indexOf("The *sec");
  const { content, mark } = renderLesson([chunk(source, 100)], { start: 100 + start, end: 100 + source.indexOf(" Third") }, undefined);
  expect(marks(content).replaceAll("|", "")).toBe("The second sentence, with code.");
  expect(mark).toBeDefined();
});
test("a sentence that occurs twice is marked where it was cited", () => {
  const source = "Same words.\n\nSame words.";
  const { content } = renderLesson([chunk(source, 0)], { start: 13, end: 24 }, undefined);
  const blocks = content.querySelectorAll(".block");
  expect(marks(blocks[0]!)).toBe("");
  expect(marks(blocks[1]!)).toBe("Same words.");
});
test("a table row is marked cell by cell", () => {
  const source = "| a | b |\n|---|---|\n| Joint control | 100 Hz |\n| x | y |";
  const start = source.indexOf("| Joint");
  const { content } = renderLesson([chunk(source, 0)], { start, end: start + "| Joint control | 100 Hz |".length }, undefined);
  expect(marks(content)).toBe("Joint control|100 Hz");
});
test("words in code blocks and across emphasis are found", () => {
  expect(markWords(box("<p>a <b>bold</b> move</p>"), "a **bold** move")).toBeDefined();
  expect(markWords(box("<pre>x = f(1)</pre>"), "x = f(1)")).toBeDefined();
  expect(markWords(box("<p>nothing</p>"), "absent")).toBeUndefined();
});
test("imports of a page are not shown", () => {
  const { content } = renderLesson([chunk("import Tabs from '@theme/Tabs';\n\nText.", 0)], undefined, undefined);
  expect(content.textContent?.trim()).toBe("Text.");
});
test("the paragraph around a quote", () => {
  const text = "One.\n\nTwo 🤖 three. Four.\n\nFive.";
  const at = [...text.slice(0, text.indexOf("Two"))].length;
  expect(paragraphAround(text, 0, { start: at, end: at + 12 })).toEqual({ before: "", quote: "Two 🤖 three.", after: " Four." });
});
