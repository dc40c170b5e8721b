/** Trust 24: 1,000 hostile answers, in the page and in the widget, and no request beyond the origin. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";

import { browserTests, visit } from "./page.ts";
import { startSite } from "./site-server.mjs";
import { startStub } from "./stub-server.mjs";

const ANSWERS = Number(process.env["QUIRE_HOSTILE_ANSWERS"] ?? 1000);
const PER_THREAD = 25;

/** Notes every request, also those that never leave (a blocked one counts as an attempt). */
async function watch(page: Page, allowed: string[]): Promise<string[]> {
  const foreign: string[] = [];
  const note = (url: string): void => {
    if (/^(https?|wss?):/.test(url) && !allowed.includes(new URL(url).origin)) foreign.push(url);
  };
  await page.context().route(/.*/, (route) => (note(route.request().url()), allowed.includes(new URL(route.request().url()).origin) ? route.continue() : route.abort()));
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.requestWillBeSent", (event) => note(event.request.url));
  page.context().on("page", (other) => other !== page && foreign.push(`opened ${other.url()}`));
  page.on("framenavigated", (frame) => frame !== page.mainFrame() && foreign.push(`frame ${frame.url()}`));
  page.on("dialog", (dialog) => (foreign.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  return foreign;
}

/** Asks "hostile n" for each n, opens citations now and then, and looks at what stands in the DOM. */
async function run(page: Page, tag: "quire-app" | "quire-widget", from: number, to: number): Promise<string[]> {
  return await page.evaluate(async ([name, first, last, perThread]) => {
    const app = document.querySelector(name as string) as HTMLElement & { ask(q: string): Promise<void>; startOver?(): void; updateComplete: Promise<unknown> };
    const bad: string[] = [];
    function* all(root: ParentNode): Generator<Element> {
      for (const element of root.querySelectorAll("*")) {
        yield element;
        if (element.shadowRoot) yield* all(element.shadowRoot);
      }
    }
    const inspect = (n: number): void => {
      for (const element of all(app.shadowRoot!)) {
        if (/^(img|script|iframe|object|embed|video|audio|form|meta|base|link|style|portal|picture|source|math|template)$/.test(element.localName)
            && !element.closest("form:has(textarea), dialog form, form.row") && element.localName !== "style") {
          if (element.localName !== "form") bad.push(`${n}: <${element.localName}>`);
        }
        for (const attribute of element.attributes) {
          if (/^on/.test(attribute.name)) bad.push(`${n}: ${attribute.name}`);
          if (/^(href|src|action|ping|srcset|poster|formaction)$/.test(attribute.name) && !/^(https:\/\/example\.org\/physical-ai(?=[/#]|$)|\.\/)/.test(attribute.value)) bad.push(`${n}: ${attribute.name}=${attribute.value}`);
        }
      }
    };
    const inside = (selector: string): HTMLElement | undefined => {
      let found: HTMLElement | undefined;
      for (const element of all(app.shadowRoot!)) if (element.matches(selector)) found = element as HTMLElement;
      return found;
    };
    for (let n = first as number; n < (last as number); n++) {
      if ((n - (first as number)) % (perThread as number) === 0) {
        if (app.startOver) app.startOver();
        else inside("[aria-label='New conversation']")?.click();
      }
      await app.ask(`hostile ${n}`);
      await app.updateComplete;
      if (n % 10 === 0) {
        inside(".cite")?.click();
        await new Promise((done) => setTimeout(done, 40));
        inspect(n);
        inside("[aria-label='Close the lesson']")?.click();
      }
      if (n % (perThread as number) === (perThread as number) - 1) inspect(n);
    }
    return bad;
  }, [tag, from, to, PER_THREAD] as const);
}

browserTests("hostile answers", () => {
  for (const csp of [true, false]) {
    const answers = csp ? ANSWERS : Math.min(ANSWERS, 200);
    test(`${answers} in the page${csp ? "" : ", without the help of the CSP"}`, { timeout: 600_000 }, async () => {
      const stub = await startStub({ delay: 0, csp });
      const page = await visit(stub.url);
      const foreign = await watch(page, [stub.url]);
      await page.getByLabel("Your question").waitFor();
      for (let n = 0; n < answers; n += 100) expect(await run(page, "quire-app", n, Math.min(answers, n + 100))).toEqual([]);
      await page.waitForTimeout(500);
      expect(foreign).toEqual([]);
      expect(stub.state.requests.filter((request) => request.path === "/chat/stream")).toHaveLength(answers);
      expect(new URL(page.url()).origin).toBe(stub.url);
      if (!csp) {
        // The watch itself: it must notice what it is there to notice.
        await page.evaluate(() => void (new Image().src = "https://evil.example/control.png"));
        await expect.poll(() => foreign).toContain("https://evil.example/control.png");
      }
      await stub.close();
    });
  }

  test("in the widget, on a page without any CSP", { timeout: 600_000 }, async () => {
    const answers = Math.min(ANSWERS, 300);
    const stub = await startStub({ delay: 0 });
    const site = await startSite(stub.url);
    const page = await visit(`${site.url}/plain.html`);
    const foreign = await watch(page, [stub.url, site.url]);
    await page.getByRole("button", { name: "Ask the book" }).click();
    for (let n = 0; n < answers; n += 100) expect(await run(page, "quire-widget", n, Math.min(answers, n + 100))).toEqual([]);
    await page.waitForTimeout(500);
    expect(foreign).toEqual([]);
    await site.close();
    await stub.close();
  });
});
