/** What the browser tests share: a page, its errors, and how a reader asks. */
import { afterAll, afterEach, beforeAll, describe, expect, inject } from "vitest";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";

import { launch } from "./browser.mjs";

export const QUESTION = "What does transient local durability do?";
export const UNKNOWN = "Which volcano erupted near Naples in the year 79?";

let browser: Browser;
const open: BrowserContext[] = [];
const problems: string[] = [];

/** Tests that need a browser; skipped as a whole (and loudly) where there is none. */
export function browserTests(name: string, tests: () => void): void {
  describe.skipIf(!inject("browser"))(name, () => {
    beforeAll(async () => { browser = await launch(inject("browser")); });
    afterEach(async () => {
      await Promise.all(open.splice(0).map((context) => context.close()));
      expect(problems.splice(0), "errors on the page").toEqual([]);
    });
    afterAll(async () => { await browser?.close(); });
    tests();
  });
}

/** A fresh profile with `url` open; script errors and CSP violations fail the test. */
export async function visit(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  open.push(context);
  context.setDefaultTimeout(120_000); // a busy machine is slow, not broken
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) problems.push(message.text());
  });
  await page.goto(url);
  return page;
}

/** Types a question and presses Enter. */
export async function ask(page: Page, question: string): Promise<void> {
  const turns = await page.locator("quire-turn").count();
  const field = page.getByLabel("Your question");
  await field.fill(question);
  await field.press("Enter");
  await expect.poll(() => page.locator("quire-turn").count()).toBe(turns + 1);
}

/** Waits until the last turn is complete (answered, refused, stopped or failed). */
export async function settled(page: Page): Promise<void> {
  await page.locator("quire-turn.last article[aria-busy=false]").waitFor({ timeout: 30_000 });
}

export async function askAndWait(page: Page, question: string): Promise<void> {
  await ask(page, question);
  await settled(page);
}

/** The text of an element with everything in its shadow roots. */
export async function textOf(locator: Locator): Promise<string> {
  return await locator.evaluate((root) => {
    const read = (node: Node): string => {
      if (node instanceof Element && /^(style|script)$/.test(node.localName)) return "";
      if (node.nodeType === Node.TEXT_NODE) return (node as Text).data;
      const inside = (node as Element).shadowRoot ?? node;
      return [...inside.childNodes].map(read).join("");
    };
    return read(root).replace(/\s+/g, " ").trim();
  });
}

export const lastTurn = (page: Page) => page.locator("quire-turn.last");
