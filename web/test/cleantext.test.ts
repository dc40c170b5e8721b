import { expect, test } from "vitest";
import { clean, cleanLine } from "../src/core/cleantext.ts";

test("hidden, bidi, tag and control characters are taken out", () => {
  expect(clean("a\u200bb\u202ec\u2066d\u{e0041}e\u0000f\ufeffg")).toBe("abcdefg");
});
test("ANSI sequences are taken out whole", () => {
  expect(clean("\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007")).toBe("red link");
});
test("line ends become newlines", () => expect(clean("a\r\nb\rc")).toBe("a\nb\nc"));
test("joiners stay where a script needs them, and go elsewhere", () => {
  expect(clean("می\u200cخواهم")).toBe("می\u200cخواهم");
  expect(clean("👩\u200d💻")).toBe("👩\u200d💻");
  expect(clean("pass\u200cword")).toBe("password");
});
test("one line", () => expect(cleanLine(" a\n b\t c ")).toBe("a b c"));
