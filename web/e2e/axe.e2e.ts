/** axe (WCAG 2.2 A and AA, best practices): no violation in any main state, light, dark and phone. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { afterAll, expect, inject, test } from "vitest";
import type { Page } from "playwright-core";

import { askAndWait, browserTests, lastTurn, QUESTION, UNKNOWN, visit } from "./page.ts";
import { startSite } from "./site-server.mjs";
import { startStub } from "./stub-server.mjs";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const report: { state: string; violations: number; passes: number; incomplete: string[] }[] = [];

interface Result { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]; passes: unknown[]; incomplete: { id: string; nodes: unknown[] }[] }

async function check(page: Page, state: string, include?: string): Promise<void> {
  await page.waitForTimeout(250);
  await page.evaluate(source);
  const result = await page.evaluate(async (scope) => {
    const axe = (window as never as { axe: { run(context: unknown, options: unknown): Promise<unknown> } }).axe;
    return (await axe.run(scope ?? document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })) as never;
  }, include) as Result;
  report.push({ state, violations: result.violations.length, passes: result.passes.length, incomplete: result.incomplete.map((item) => `${item.id} (${item.nodes.length})`) });
  expect(result.violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html}\n${n.failureSummary}`).join("\n")}`), state).toEqual([]);
}

browserTests("accessibility", () => {
  afterAll(() => {
    const folder = fileURLToPath(new URL("../test-results", import.meta.url));
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/axe.json`, JSON.stringify(report, null, 2));
    for (const { state, violations, passes, incomplete } of report) console.log(`axe ${state}: ${violations} violations, ${passes} rules passed${incomplete.length ? `, to check by hand: ${incomplete.join(", ")}` : ""}`);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`the chat page, ${colorScheme}`, async () => {
      const page = await visit(inject("server").url, { colorScheme });
      await page.getByLabel("Your question").waitFor();
      await check(page, `welcome ${colorScheme}`);
      await askAndWait(page, QUESTION);
      await check(page, `answer ${colorScheme}`);
      await lastTurn(page).locator(".cite").first().hover();
      await page.locator("quire-preview .card").waitFor();
      await check(page, `citation ${colorScheme}`);
      await lastTurn(page).locator(".cite").first().click();
      await page.locator("quire-lesson mark").first().waitFor();
      await check(page, `lesson ${colorScheme}`);
      await page.keyboard.press("Escape");
      await page.mouse.move(0, 0);
      await lastTurn(page).locator("summary").click();
      await askAndWait(page, UNKNOWN);
      await check(page, `refusal ${colorScheme}`);
      await page.keyboard.press("Control+/");
      await check(page, `shortcuts ${colorScheme}`);
    });
  }

  test("the chat page on a phone", async () => {
    const page = await visit(inject("server").url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await askAndWait(page, QUESTION);
    await check(page, "phone answer");
    await page.getByRole("button", { name: "Conversations" }).tap();
    await page.locator(".side.shown").waitFor();
    await check(page, "phone menu");
  });

  test("filters, feedback, errors, Urdu", async () => {
    const stub = await startStub({ delay: 5 });
    const page = await visit(stub.url);
    await page.getByLabel("Module").selectOption("ros2");
    await askAndWait(page, "What is a lifecycle node?");
    await lastTurn(page).getByRole("button", { name: "Bad answer" }).click();
    await check(page, "filters and feedback");
    await askAndWait(page, "کوالٹی آف سروس کیا ہے؟");
    await askAndWait(page, "import a profile in code, quality of service");
    await askAndWait(page, "limit");
    await check(page, "error and code");
    await stub.close();
  });

  test("the widget", async () => {
    const stub = await startStub({ delay: 5 });
    const site = await startSite(stub.url);
    for (const dark of [false, true]) {
      const page = await visit(`${site.url}/plain.html`);
      if (dark) await page.evaluate(() => document.body.style.setProperty("background", "#111"));
      await page.getByRole("button", { name: "Ask the book" }).click();
      await check(page, `widget ${dark ? "dark" : "light"}`, "quire-widget");
      await askAndWait(page, QUESTION);
      await check(page, `widget answer ${dark ? "dark" : "light"}`, "quire-widget");
    }
    await site.close();
    await stub.close();
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`the author's view, ${colorScheme}`, async () => {
      const stub = await startStub({ delay: 5 });
      const page = await visit(`${stub.url}/admin`, { colorScheme });
      await page.getByRole("button", { name: "Start" }).click();
      for (const tab of ["Books and jobs", "What to write next", "Weak answers", "Search explained", "Usage", "Keys"]) {
        await page.getByRole("tab", { name: tab }).click();
        if (tab === "Search explained") {
          await page.getByLabel("Question").fill("quality of service");
          await page.getByRole("button", { name: "Explain" }).click();
          await page.getByRole("table").waitFor();
        }
        await check(page, `admin ${tab} ${colorScheme}`);
      }
      await stub.close();
    });
  }
});
