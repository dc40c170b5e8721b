import { expect, test } from "vitest";
import { inBook } from "../src/core/links.ts";
import { sourceLink, textDirective } from "../src/core/quotelink.ts";

const BASE = "https://example.org/book";

test.each(["https://example.org/book", "https://example.org/book/a#b", "https://example.org/book/a?x=1"])("%s is in the book", (url) => {
  expect(inBook(url, BASE)).toBe(url);
});

test.each([
  "https://example.org/booklet", "https://example.org/", "https://evil.example/book/", "http://example.org/book/a",
  "https://example.org.evil.example/book/", "https://example.org@evil.example/book/", "https://user:pw@example.org/book/a",
  "https://example.org/book/../../x", "https://example.org/book/%2e%2e/x", "https://example.org/book/%2e%2e%2fx",
  "//evil.example/book", "javascript:alert(1)", "data:text/html,x", "\tjava\nscript:alert(1)", "https://example.org/book/%zz",
])("%s is not", (url) => expect(inBook(url, BASE)).toBeUndefined());

test("without a base address nothing is", () => {
  expect(inBook("https://example.org/book", undefined)).toBeUndefined();
  expect(inBook("https://example.org/book", "")).toBeUndefined();
});

test("a short quote is named whole, without its markup", () => {
  expect(textDirective("Best **effort** sends a `message` once.")).toBe("text=Best%20effort%20sends%20a%20message%20once.");
});
test("a long quote is named by its ends", () => {
  const quote = Array.from({ length: 30 }, (_, i) => `w${i}`).join(" ");
  expect(textDirective(quote)).toBe("text=w0%20w1%20w2%20w3%20w4%20w5,w24%20w25%20w26%20w27%20w28%20w29");
});
test("a table row is named by its first and last cells", () => {
  expect(textDirective("| Joint control | 100–1,000 Hz |")).toBe("text=Joint%20control,100%E2%80%931%2C000%20Hz");
});
test("dashes and commas don't break the directive", () => expect(textDirective("a-b, c")).toBe("text=a%2Db%2C%20c"));
test("the directive follows an anchor", () => {
  expect(sourceLink(`${BASE}/a#b`, "One two.", BASE)).toBe(`${BASE}/a#b:~:text=One%20two.`);
  expect(sourceLink(`${BASE}/a`, "One two.", BASE)).toBe(`${BASE}/a#:~:text=One%20two.`);
  expect(sourceLink("https://evil.example/", "x", BASE)).toBeUndefined();
});
