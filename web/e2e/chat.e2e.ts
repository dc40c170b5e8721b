import { expect, inject, test } from "vitest";

import { ask, askAndWait, browserTests, lastTurn, QUESTION, settled, textOf, UNKNOWN, visit } from "./page.ts";
import { startStub } from "./stub-server.mjs";

browserTests("the chat page", () => {
  const { url, kind, control } = inject("server");

  test("an answer cites every sentence, and the quote shows in its paragraph", async () => {
    const page = await visit(url);
    await askAndWait(page, QUESTION);
    const turn = lastTurn(page);
    expect(await textOf(turn.locator("quire-answer"))).toContain("Transient local durability makes the publisher keep its last messages");
    expect(await turn.locator(".cite").count()).toBeGreaterThan(0);
    expect(await turn.locator("summary").innerText()).toMatch(/match · answered from \d+ passages?/);
    await turn.locator(".cite").first().hover();
    const card = page.locator("quire-preview .card");
    await card.waitFor();
    await expect.poll(() => card.locator("mark").first().innerText()).toContain("Transient local durability");
    await expect.poll(() => textOf(card)).toContain("Volatile durability delivers only");
    const link = await card.getByRole("link", { name: "Open the page" }).getAttribute("href");
    expect(link).toMatch(/^https:\/\/example\.org\/physical-ai\/.+:~:text=Transient/);
  });

  test("a click opens the lesson with the cited passage marked and in view", async () => {
    const page = await visit(url);
    await askAndWait(page, QUESTION);
    await lastTurn(page).locator(".cite").first().click();
    const mark = page.locator("quire-lesson mark").first();
    await mark.waitFor();
    expect(await mark.innerText()).toContain("Transient local durability");
    const box = (await mark.boundingBox())!;
    expect(box.y).toBeGreaterThan(0);
    expect(box.y).toBeLessThan(800);
    expect(await page.locator("quire-lesson h4, quire-lesson h5").count()).toBeGreaterThan(2);
    await page.keyboard.press("Escape");
    await page.locator("quire-lesson").waitFor({ state: "detached" });
  });

  test("what the book doesn't say is refused calmly, with the nearest sections", async () => {
    const page = await visit(url);
    await askAndWait(page, UNKNOWN);
    const turn = lastTurn(page);
    await turn.getByRole("heading", { name: "The book doesn’t say" }).waitFor();
    expect(await turn.locator(".cite").count()).toBe(0);
  });

  test("a greeting gets a line of its own, without a refusal or a card", async () => {
    const page = await visit(url);
    await askAndWait(page, "Hello!");
    const turn = lastTurn(page);
    expect(await textOf(turn)).toContain("Hello. What would you like to know about Physical AI: from ROS 2 to VLA?");
    expect(await turn.locator(".calm, .cite, summary").count()).toBe(0);
  });

  test("a follow-up belongs to the same session", async () => {
    const page = await visit(url);
    const sessions: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/chat/stream")) sessions.push((request.postDataJSON() as { session_id: string }).session_id);
    });
    await askAndWait(page, QUESTION);
    await askAndWait(page, "What does volatile durability deliver?");
    await page.waitForTimeout(300);
    // the new question is on top of the conversation, and the page around it stays where it is
    const [box, question] = [(await page.locator(".scroll").boundingBox())!, (await lastTurn(page).boundingBox())!];
    expect(Math.abs(question.y - box.y)).toBeLessThan(30);
    expect((await page.locator(".brand").boundingBox())!.y).toBeGreaterThanOrEqual(0);
    expect(await page.evaluate(() => document.scrollingElement!.scrollTop)).toBe(0);
    expect(sessions).toHaveLength(2);
    expect(sessions[0]).toBe(sessions[1]);
  });

  test("a reload resumes the conversation; it can be renamed and deleted", async () => {
    const page = await visit(url);
    await askAndWait(page, QUESTION);
    await page.reload();
    await settled(page);
    expect(await textOf(lastTurn(page))).toContain(QUESTION);
    expect(await lastTurn(page).locator(".cite").count()).toBeGreaterThan(0);
    const threads = page.locator("quire-threads");
    await threads.locator("li.current").hover();
    await threads.locator("li.current").getByRole("button", { name: /^Rename/ }).click();
    await threads.getByLabel("Name of the conversation").fill("Durability");
    await page.keyboard.press("Enter");
    await threads.getByRole("button", { name: "Durability", exact: true }).waitFor();
    await threads.locator("li.current").hover();
    await threads.locator("li.current").getByRole("button", { name: /^Delete/ }).click();
    await threads.getByRole("button", { name: "Delete", exact: true }).click();
    await page.locator(".welcome").waitFor();
    expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("quire:thread:")))).toEqual([]);
  });

  test("another browser shows the same conversation with its citations", async () => {
    const page = await visit(url);
    await askAndWait(page, QUESTION);
    await askAndWait(page, UNKNOWN);
    const words = await textOf(page.locator("quire-turn").first().locator("quire-answer"));
    const address = page.url();
    const other = await visit(url);
    await other.locator("quire-threads").getByRole("button", { name: QUESTION, exact: true }).first().click();
    await settled(other);
    expect(other.url()).toBe(address);
    const first = other.locator("quire-turn").first();
    expect(await textOf(first.locator("quire-answer"))).toBe(words);
    expect(await first.locator("summary").innerText()).toMatch(/match · answered from \d+ passages?/);
    await lastTurn(other).getByRole("heading", { name: "The book doesn’t say" }).waitFor();
    await first.locator(".cite").first().click();
    await other.locator("quire-lesson mark").first().waitFor();
    expect(await other.locator("quire-lesson mark").first().innerText()).toContain("Transient local durability");
  });

  test("everything works from the keyboard alone", async () => {
    const page = await visit(url);
    await page.getByLabel("Your question").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type(QUESTION);
    await page.keyboard.press("Enter");
    await settled(page);
    const focused = () => page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return `${element?.className} ${element?.getAttribute("aria-label") ?? element?.textContent?.trim()}`;
    });
    for (let i = 0; i < 40 && !(await focused()).startsWith("cite"); i++) await page.keyboard.press("Shift+Tab");
    expect(await focused()).toMatch(/^cite.* Source \d: Lesson \d/);
    await page.locator("quire-preview .card").waitFor();
    await page.keyboard.press("Enter");
    await page.locator("quire-lesson mark").first().waitFor();
    expect(await focused()).toMatch(/Lesson \d/);
    await page.keyboard.press("Escape");
    expect(await focused()).toMatch(/^cite/);
    await page.keyboard.press("Control+Shift+o");
    await page.locator(".welcome").waitFor();
  });

  test("phone: nothing overflows, a tap shows the quote, the lesson fills the screen", async () => {
    const page = await visit(url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await askAndWait(page, QUESTION);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await lastTurn(page).locator(".cite").first().tap();
    const card = page.locator("quire-preview .card");
    await card.waitFor();
    await card.getByRole("button", { name: "Read in the lesson" }).tap();
    await page.locator("quire-lesson mark").first().waitFor();
    expect((await page.locator(".panel").boundingBox())!.width).toBe(390);
    await page.getByRole("button", { name: "Close the lesson" }).tap();
    await page.getByRole("button", { name: "Conversations" }).tap();
    await page.locator(".side.shown").waitFor();
  });

  test("dark: the page follows the system, and the reader's choice wins and stays", async () => {
    const page = await visit(url, { colorScheme: "dark" });
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    expect(await background()).toBe("rgb(23, 22, 20)");
    await page.getByRole("button", { name: "Theme: System" }).click();
    expect(await background()).toBe("rgb(250, 248, 244)");
    await page.reload();
    expect(await background()).toBe("rgb(250, 248, 244)");
  });

  test("a shared link asks the same question, and keeps it out of the request line", async () => {
    const page = await visit(`${url}/#q=${encodeURIComponent(QUESTION)}&book=physical-ai`);
    const seen: string[] = [];
    page.on("request", (request) => seen.push(request.url()));
    await settled(page);
    expect(await textOf(lastTurn(page))).toContain("keep its last messages");
    expect(seen.filter((address) => /durability/i.test(address))).toEqual([]);
  });

  test.skipIf(kind === "given")("the server goes away and comes back", async () => {
    const page = await visit(url);
    await askAndWait(page, QUESTION);
    await fetch(`${control}/stop`);
    await askAndWait(page, "What does best effort do?");
    await lastTurn(page).getByText("The server can’t be reached.").waitFor();
    await page.getByText("The server is away.").waitFor();
    await fetch(`${control}/start`);
    await page.locator(".banner").getByText("The server is back.").waitFor({ timeout: 30_000 });
    await page.locator(".banner").getByRole("button", { name: "Ask again" }).click();
    await lastTurn(page).locator(".problem").waitFor({ state: "detached" });
    await settled(page);
    expect(await lastTurn(page).locator(".problem").count()).toBe(0);
  });
});

browserTests("the chat page against a slow or broken server", () => {
  test("sentences arrive one by one, nothing on the page jumps, and Stop keeps what arrived", async () => {
    const stub = await startStub({ delay: 350 });
    const page = await visit(stub.url);
    await page.locator(".examples button").first().waitFor();
    await page.evaluate(() => {
      const shifts: number[] = ((window as never as { shifts: number[] }).shifts = []);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as never as { value: number }).value);
      }).observe({ type: "layout-shift" });
    });
    await ask(page, "What is a lifecycle node?");
    const lengths: number[] = [];
    for (let i = 0; i < 40; i++) {
      const answer = lastTurn(page).locator("quire-answer");
      lengths.push((await answer.count()) > 0 ? (await textOf(answer)).length : 0);
      await page.waitForTimeout(40);
    }
    await settled(page);
    expect(new Set(lengths).size).toBeGreaterThan(3);
    expect(await page.evaluate(() => (window as never as { shifts: number[] }).shifts.reduce((a, b) => a + b, 0))).toBeLessThan(0.01);
    await ask(page, "What is a lifecycle node, slowly?");
    await lastTurn(page).locator("quire-answer .cite").first().waitFor();
    await page.keyboard.press("Escape");
    await lastTurn(page).getByText("Stopped.").waitFor();
    expect(await textOf(lastTurn(page).locator("quire-answer"))).not.toBe("");
    await stub.close();
  });

  test("filters are sent, echoed, and can be dropped", async () => {
    const stub = await startStub({ delay: 5 });
    const page = await visit(stub.url);
    await page.getByLabel("Module").selectOption("ros2");
    await page.getByLabel("Tier", { exact: true }).selectOption("2");
    await askAndWait(page, "What is a lifecycle node?");
    expect(stub.state.requests.at(-1)!.body.filters).toEqual({ module: "ros2", hardware_tier: 2 });
    expect(await lastTurn(page).locator(".applied li").allInnerTexts()).toEqual(["Module: ros2", "Up to tier 2"]);
    await page.getByRole("button", { name: "Remove filter Module" }).click();
    await askAndWait(page, UNKNOWN);
    await lastTurn(page).getByRole("button", { name: "Search the whole book" }).click();
    await settled(page);
    await expect.poll(() => stub.state.requests.filter((r) => r.path === "/chat/stream").at(-1)!.body.filters).toBeUndefined();
    await stub.close();
  });

  test("a thumb down with a reason is stored; copy carries the citations", async () => {
    const stub = await startStub({ delay: 5 });
    const page = await visit(stub.url, { permissions: ["clipboard-read", "clipboard-write"] });
    await askAndWait(page, QUESTION);
    await lastTurn(page).getByRole("button", { name: "Bad answer" }).click();
    await lastTurn(page).getByRole("button", { name: "Something is missing" }).click();
    await expect.poll(() => stub.state.feedback.at(-1)).toMatchObject({ rating: "down", reason: "Something is missing", trace_id: "stub-trace" });
    await lastTurn(page).getByRole("button", { name: "Copy" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("Sources\n[1] Lesson 2.4");
    await stub.close();
  });

  test("an answer that breaks off keeps its sentences and offers to ask again", async () => {
    const stub = await startStub({ delay: 5 });
    const page = await visit(stub.url);
    await askAndWait(page, "What does transient local durability do? break off");
    await lastTurn(page).getByText("The connection was lost before the answer was complete.").waitFor();
    expect(await textOf(lastTurn(page).locator("quire-answer"))).toContain("Transient local");
    await stub.close();
  });

  test("too many questions: says how long to wait", async () => {
    const stub = await startStub();
    const page = await visit(stub.url);
    await askAndWait(page, "limit");
    await lastTurn(page).getByText("You can ask again in 7 seconds.").waitFor();
    await stub.close();
  });

  test("a server that wants a key asks for it, and the key stays in this tab", async () => {
    const stub = await startStub({ key: "sk_test", delay: 5 });
    const page = await visit(stub.url);
    await page.getByLabel("Key", { exact: true }).fill("sk_test");
    await page.keyboard.press("Enter");
    await askAndWait(page, QUESTION);
    expect(await lastTurn(page).locator(".cite").count()).toBeGreaterThan(0);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("sk_test");
    expect(await page.context().cookies()).toEqual([]);
    await stub.close();
  });

  test("Urdu reads from right to left, in its own face", async () => {
    const stub = await startStub({ delay: 5 });
    const page = await visit(stub.url);
    await askAndWait(page, "کوالٹی آف سروس کیا ہے؟");
    const direction = await lastTurn(page).locator("quire-answer p").first().evaluate((p) => getComputedStyle(p).direction);
    expect(direction).toBe("rtl");
    expect(await lastTurn(page).locator("h2.question").evaluate((h) => [getComputedStyle(h).direction, h.getAttribute("lang")])).toEqual(["rtl", "ur"]);
    await stub.close();
  });
});
