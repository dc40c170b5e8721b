/** The real server with keys on: the author's view, and the widget on pages as generators render them. */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { Page } from "playwright-core";

import { askAndWait, browserTests, lastTurn, QUESTION, UNKNOWN, visit } from "./page.ts";
import { startGuarded } from "./server.mjs";
import { startSite } from "./site-server.mjs";

const LESSON = "/physical-ai/ros2/chapter-2-communication/quality-of-service";
const { kind } = inject("server");

browserTests("the real server with keys", () => {
  let site: Awaited<ReturnType<typeof startSite>>;
  let other: Awaited<ReturnType<typeof startSite>>;
  let server: NonNullable<Awaited<ReturnType<typeof startGuarded>>>;
  let lesson = LESSON;

  beforeAll(async () => {
    if (kind !== "real") return;
    [site, other] = [await startSite(), await startSite()];
    server = (await startGuarded(kind, { baseUrl: `${site.url}/physical-ai` }))!;
    site.api = other.api = server.url;
    site.key = other.key = await server.key("--kind", "publishable", "--book", "physical-ai", "--origin", site.url);
    const found = await post("/search", { text: "transient local durability", limit: 1 }, await server.key());
    lesson = new URL(found.results[0].source_url).pathname;
  });
  afterAll(async () => {
    await Promise.all([site?.close(), other?.close(), server?.close()]);
  });

  async function post(path: string, body: unknown, key: string) {
    const response = await fetch(server.url + path, { method: "POST", headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return response.status === 204 ? undefined : await response.json();
  }

  test.skipIf(kind !== "real")("the author's view: gaps, a thumb down, ranks, usage, an ingest and keys", async () => {
    const reader = await server.key("--scope", "chat");
    const answer = await post("/chat", { query: QUESTION }, reader);
    await post("/chat", { query: UNKNOWN }, reader);
    await post("/feedback", { session_id: answer.session_id, trace_id: answer.metadata.trace_id, rating: "down", reason: "It quotes half" }, reader);
    const page = await visit(`${server.url}/admin`);
    await page.getByLabel("Key").fill(reader);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Author’s view" }).waitFor();
    await page.getByLabel("Key").fill(await server.key("--scope", "admin"));
    await page.keyboard.press("Enter");
    await page.getByText(/^\d+ pages · \d+ chunks$/).waitFor();
    await page.getByRole("button", { name: "Start" }).click();
    await expect.poll(() => page.locator(".status.completed").count(), { timeout: 60_000 }).toBe(2);
    await page.getByRole("tab", { name: "What to write next" }).click();
    await page.getByText(UNKNOWN).waitFor();
    await page.getByRole("tab", { name: "Weak answers" }).click();
    await page.getByText("It quotes half").waitFor();
    await page.getByRole("tab", { name: "Search explained" }).click();
    await page.getByLabel("Question").fill("quality of service");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(10);
    await page.getByRole("tab", { name: "Usage" }).click();
    await page.locator("figure.chart").first().waitFor();
    await page.getByRole("tab", { name: "Keys" }).click();
    await page.getByLabel("Name").fill("CI");
    await page.getByLabel("Kind").selectOption("secret");
    await page.getByRole("button", { name: "Create" }).click();
    const made = await page.locator(".once code").innerText();
    expect(await fetch(`${server.url}/books`, { headers: { "X-API-Key": made } }).then((r) => r.status)).toBe(200);
    await page.getByRole("button", { name: "Revoke CI" }).click();
    await page.getByText("The key was revoked.").waitFor();
    await page.waitForTimeout(1000);
    expect(await fetch(`${server.url}/books`, { headers: { "X-API-Key": made } }).then((r) => r.status)).toBe(401);
  });

  test.skipIf(kind !== "real")("the widget asks, rates and reads from its own site, and from no other", async () => {
    const page = await visit(`${site.url}/plain.html`);
    const seen: string[] = [];
    page.on("response", (response) => seen.push(`${response.request().method()} ${new URL(response.url()).pathname} ${response.status()}`));
    await page.getByRole("button", { name: "Ask the book" }).click();
    await askAndWait(page, QUESTION);
    await lastTurn(page).locator(".cite").first().click();
    await page.locator("quire-preview .card mark").first().waitFor();
    await lastTurn(page).getByRole("button", { name: "Bad answer" }).click();
    await lastTurn(page).getByRole("button", { name: "Something is missing" }).click();
    await expect.poll(() => seen).toContain("POST /feedback 204");
    expect(seen.some((line) => line.startsWith("GET /chunks/") && line.endsWith(" 200")) || seen.some((line) => line.startsWith("GET /documents/"))).toBe(true);
    expect(seen.filter((line) => / [45]\d\d$/.test(line))).toEqual([]);
    const stranger = await visit(`${other.url}/plain.html`);
    await stranger.getByRole("button", { name: "Ask the book" }).click();
    await askAndWait(stranger, QUESTION);
    await lastTurn(stranger).locator(".problem").waitFor();
    expect(await lastTurn(stranger).locator(".cite").count()).toBe(0);
  });

  for (const generator of ["docusaurus", "mkdocs", "mdbook", "vitepress"]) {
    test.skipIf(kind !== "real")(`a page as ${generator} renders it`, async () => {
      const page = await visit(`${site.url}${lesson}?as=${generator}`);
      const launch = page.getByRole("button", { name: "Ask the book" });
      await launch.waitFor();
      expect(await launch.evaluate((button) => [getComputedStyle(button).fontSize, getComputedStyle(button).textTransform])).toEqual(["15px", "none"]);
      const asked = page.waitForRequest((request) => request.url().endsWith("/chat/stream"));
      await selectLesson(page);
      await page.locator(".bubble").click();
      await askAndWait(page, "Which topics use transient local with depth 1? /skn,.");
      const body = (await asked).postDataJSON() as { selected_text: string; selection: { page_url: string } };
      expect(body.selected_text).toMatch(/^Durability\s*\nTransient local durability makes/);
      expect(body.selected_text).not.toMatch(/[\u200b¶#]/);
      expect(body.selection.page_url).toBe(`${site.url}${lesson}?as=${generator}`);
      await lastTurn(page).getByText("From your selection").waitFor();
      expect(await answerOf(page)).toMatchObject({ selection_source: { source_file: "module-1-ros2/chapter-2-communication/04-quality-of-service.md", section_heading: "Durability" } });
      const onPage = await page.evaluate(() => [...(CSS.highlights.get("quire-used") ?? [])].map((range) => range.toString()));
      expect(onPage.join(" ")).toContain("transient local with depth 1");
      expect(await page.evaluate(() => (window as never as { pageKeys: string[] }).pageKeys)).toEqual([]);
      await page.evaluate(() => (window as never as { goDark(): void }).goDark());
      await page.locator("quire-widget[scheme=dark]").waitFor({ state: "attached" });
    });
  }
});

/** From the heading to the end of the box, as a reader drags over it. */
async function selectLesson(page: Page): Promise<void> {
  await page.evaluate(() => {
    const range = document.createRange();
    range.setStart(document.getElementById("durability")!, 0);
    const end = document.getElementById("end")!;
    range.setEnd(end, end.childNodes.length);
    const selection = getSelection()!;
    selection.removeAllRanges();
    selection.addRange(range);
  });
}

async function answerOf(page: Page): Promise<unknown> {
  return await page.evaluate(() => {
    const kept = Object.keys(sessionStorage).find((key) => key.startsWith("quire:widget:"))!;
    return JSON.parse(sessionStorage.getItem(kept)!).turns.at(-1).response;
  });
}
