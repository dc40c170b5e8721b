import { expect, test } from "vitest";
import { codePointIndex, slice, utf16Index } from "../src/core/codepoints.ts";

test("offsets count characters outside the BMP once, as the API does", () => {
  const text = "a🤖b🦾c";
  expect(utf16Index(text, 2)).toBe(3);
  expect(codePointIndex(text, 3)).toBe(2);
  expect(slice(text, 1, 4)).toBe("🤖b🦾");
});

test("an offset past the end is the end", () => {
  expect(utf16Index("ab", 9)).toBe(2);
  expect(slice("ab", 1, 9)).toBe("b");
});
