import { expect, inject, test } from "vitest";
import type { Page } from "playwright-core";

import { askAndWait, browserTests, lastTurn, QUESTION, settled, textOf, visit } from "./page.ts";
import { startSite } from "./site-server.mjs";
import { startStub } from "./stub-server.mjs";

async function select(page: Page, id: string): Promise<void> {
  await page.evaluate((target) => {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(target)!);
    const selection = getSelection()!;
    selection.removeAllRanges();
    selection.addRange(range);
  }, id);
}

browserTests("the widget on a static docs page", () => {
  test("a reader selects text, asks about it, and sees the words that were used", async () => {
    const site = await startSite(inject("server").url);
    const page = await visit(`${site.url}/behind-proxy.html`);
    const asked = page.waitForRequest((request) => request.url().endsWith("/chat/stream"));
    await select(page, "reliability");
    await page.locator(".bubble").click();
    await askAndWait(page, "What does best effort do with a message?");
    const body = (await asked).postDataJSON() as Record<string, never>;
    expect(body).toMatchObject({ mode: "selected_text", book_id: "physical-ai" });
    expect(body["selected_text"]).toContain("Best effort sends a message once and forgets it 🤖.");
    expect(body["selection"]).toMatchObject({ page_url: `${site.url}/behind-proxy.html` });
    await lastTurn(page).getByText("From your selection").waitFor();
    const words = await lastTurn(page).locator(".selection mark").first().innerText();
    expect(body["selected_text"]).toContain(words);
    const onPage = await page.evaluate(() => [...(CSS.highlights.get("quire-used") ?? [])].map((range) => range.toString()));
    expect(onPage[0]).toBe(words);
    await site.close();
  });

  test("it asks the book, and a citation leads to the page", async () => {
    const site = await startSite(inject("server").url);
    const page = await visit(`${site.url}/behind-proxy.html`);
    await page.getByRole("button", { name: "Ask the book" }).click();
    await askAndWait(page, QUESTION);
    await lastTurn(page).locator(".cite").first().click();
    const link = page.locator("quire-preview").getByRole("link", { name: "Open the page" });
    await link.waitFor();
    expect(await link.getAttribute("href")).toMatch(/^https:\/\/example\.org\/physical-ai\/.+:~:text=/);
    await site.close();
  });

  test("another origin: the key goes in a header; no cookie, nothing of the site's style, none of its keys", async () => {
    const stub = await startStub({ delay: 5, key: "pk_test" });
    const site = await startSite(stub.url);
    const page = await visit(`${site.url}/plain.html`);
    const hosts = new Set<string>();
    page.on("request", (request) => hosts.add(new URL(request.url()).origin));
    await page.getByRole("button", { name: "Ask the book" }).click();
    await askAndWait(page, QUESTION);
    expect(await lastTurn(page).locator(".cite").count()).toBeGreaterThan(0);
    expect([...hosts].every((host) => host === stub.url || host === site.url)).toBe(true);
    expect(await page.context().cookies()).toEqual([]);
    expect(await lastTurn(page).locator("h2").evaluate((h) => getComputedStyle(h).color)).not.toBe("rgb(102, 51, 153)");
    expect(await page.evaluate(() => (window as never as { pageKeys: string[] }).pageKeys)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator(".panel").waitFor({ state: "detached" });
    await site.close();
    await stub.close();
  });

  test("the conversation goes on when the reader turns the page", async () => {
    const stub = await startStub({ delay: 5 });
    const site = await startSite(stub.url);
    const page = await visit(`${site.url}/plain.html`);
    await page.getByRole("button", { name: "Ask the book" }).click();
    await askAndWait(page, QUESTION);
    await page.goto(`${site.url}/plain.html?next`);
    await page.getByRole("button", { name: "Ask the book" }).click();
    await settled(page);
    expect(await textOf(lastTurn(page))).toContain(QUESTION);
    await site.close();
    await stub.close();
  });

  test("it follows the site's dark mode and themes by custom properties", async () => {
    const stub = await startStub();
    const site = await startSite(stub.url);
    const page = await visit(`${site.url}/plain.html`);
    const launch = page.getByRole("button", { name: "Ask the book" });
    await launch.waitFor();
    await page.evaluate(() => {
      document.body.style.background = "#111";
      document.documentElement.style.setProperty("--quire-accent", "rgb(200, 30, 60)");
    });
    await expect.poll(() => page.locator("quire-widget").getAttribute("scheme")).toBe("dark");
    expect(await launch.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe("rgb(200, 30, 60)");
    await site.close();
    await stub.close();
  });
});
