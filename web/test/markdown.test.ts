import { expect, test } from "vitest";
import { blocks, plainSegments, plainText, render } from "../src/core/markdown.ts";
import { hostileText } from "../e2e/hostile.mjs";

const BASE = "https://example.org/physical-ai";
function html(source: string, options = {}): string {
  const box = document.createElement("div");
  box.append(render(source, { baseUrl: BASE, ...options }));
  return box.innerHTML.trim();
}

test("prose, lists, tables and code are rendered", () => {
  const out = html("A **b** `c`\n\n- x\n- y\n\n| h |\n|---|\n| d |\n\n```py\n<x>\n```");
  for (const piece of ["<strong>b</strong>", "<code>c</code>", "<li", "<table>", "<td", "<pre><code>&lt;x&gt;"]) expect(out).toContain(piece);
});
test("raw HTML is shown as text", () => {
  const out = html("<b onclick=x>hi</b> <script>1</script>");
  expect(out).not.toMatch(/<(b|script)\b/);
  expect(out).toContain("&lt;script&gt;");
});
test("a lesson's tags are dropped, their content stays", () => {
  expect(html("<TabItem value='a'>\n\nText\n\n</TabItem>", { html: "strip" })).toBe('<p dir="auto">Text</p>');
});
test("images become their alternative text", () => expect(html("![a robot](https://evil.example/x.png)")).toBe('<p dir="auto">a robot</p>'));
test("links lead into the book or nowhere", () => {
  expect(html(`[in](${BASE}/a)`)).toContain(`href="${BASE}/a" target="_blank" rel="noopener noreferrer"`);
  expect(html("[out](https://evil.example)")).toBe('<p dir="auto">out</p>');
  expect(html("[x](javascript:alert(1))")).not.toContain("href");
});
test("a definition can't redirect citations", () => {
  expect(html("Text [1].\n\n[1]: https://example.org/physical-ai/evil")).toContain("[1]");
});
test("heading anchors are not shown", () => expect(html("## Rules {#rules}")).toBe('<h4 dir="auto">Rules</h4>'));
test("admonitions are quotes with a title", () => {
  const out = html(":::tip Both sides\nText *x*.\n:::\n");
  expect(out).toContain("<strong>Both sides</strong>");
  expect(out).toContain("<em>x</em>");
  expect(out).not.toContain(":::");
});
test("blocks cover the text and keep their offsets", () => {
  const source = "# A\n\nOne *two*.\n\n- x\n- y\n\n:::note\nn\n:::\n\n| a |\n|---|\n| b |\n";
  for (const block of blocks(source)) expect(source.slice(block.start, block.end)).toBe(block.source);
  expect(blocks(source)).toHaveLength(5);
});
test("plain words of quotes", () => {
  expect(plainText("Use [the docs](https://x.y) and `code`")).toBe("Use the docs and code");
  expect(plainSegments("- one\n- two")).toEqual(["one", "two"]);
});
test("hostile answers hold no live element, attribute or address", () => {
  const allowed = new Set("P BR STRONG EM DEL CODE PRE UL OL LI BLOCKQUOTE HR H3 H4 H5 H6 TABLE THEAD TBODY TR TH TD A DIV".split(" "));
  for (let n = 0; n < 100; n++) {
    const fragment = render(hostileText(n), { baseUrl: BASE });
    for (const element of fragment.querySelectorAll("*")) {
      expect(allowed, hostileText(n)).toContain(element.tagName);
      for (const { name, value } of element.attributes) {
        expect(["href", "target", "rel", "dir", "start", "class", "tabindex", "role", "aria-label"]).toContain(name);
        if (name === "href") expect(value).toMatch(/^https:\/\/example\.org\/physical-ai(\/|#|$)/);
      }
    }
  }
});
test("pathological text is shown within a moment", () => {
  const start = performance.now();
  for (const text of ["[".repeat(19_000), "*a_".repeat(6_000), "> ".repeat(200), "`".repeat(19_000), "a.".repeat(9_000) + "@", "[".repeat(500_000)]) render(text);
  expect(performance.now() - start).toBeLessThan(5000);
});
