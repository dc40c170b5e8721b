/** Screenshots of the main states, into docs/img: `npm run shots [-- name …]`. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { launch } from "./browser.mjs";
import { startServer } from "./server.mjs";
import { startSite } from "./site-server.mjs";
import { startStub } from "./stub-server.mjs";

const target = process.env.SHOTS ?? fileURLToPath(new URL("../../docs/img", import.meta.url));
const only = process.argv.slice(2);
mkdirSync(target, { recursive: true });

const server = await startServer();
const stub = await startStub({ delay: 20 });
const browser = await launch();

/** Conversations of other pictures would fill the list. */
async function forgetSessions() {
  const { sessions = [] } = await fetch(`${server.url}/sessions`).then((r) => r.json()).catch(() => ({}));
  for (const { thread_id } of sessions) await fetch(`${server.url}/sessions/${thread_id}`, { method: "DELETE" });
}

async function shot(name, options, steps) {
  if (only.length > 0 && !only.some((wanted) => name.startsWith(wanted))) return;
  const { base = server.url, path = "/", width = 1280, height = 800, ...more } = options;
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: 1.5, ...more });
  const page = await context.newPage();
  await forgetSessions();
  page.on("pageerror", (error) => console.error(`${name}: ${error}`));
  page.on("console", (message) => message.type() === "error" && console.error(`${name}: ${message.text()}`));
  await page.goto(base + path);
  await page.waitForTimeout(400);
  await steps(page);
  await page.waitForTimeout(350);
  await page.screenshot({ path: join(target, `${name}.png`) });
  spawnSync("pngquant", ["--force", "--ext", ".png", "--quality", "80-98", join(target, `${name}.png`)]);
  console.log(`${name}.png`);
  await context.close();
}

const ask = async (page, question, wait = true) => {
  const field = page.getByLabel("Your question").first();
  await field.fill(question);
  await field.press("Enter");
  await page.waitForTimeout(50);
  if (wait) await page.locator("quire-turn.last").getByRole("button", { name: "Ask again" }).waitFor();
};
const QUESTION = "What does transient local durability do?";

const examples = (page) => page.locator(".examples button").first().waitFor();
await shot("welcome", {}, examples);
await shot("welcome-dark", { colorScheme: "dark" }, examples);
await shot("answer", {}, async (page) => ask(page, QUESTION));
await shot("answer-dark", { colorScheme: "dark" }, async (page) => ask(page, QUESTION));
await shot("citation", {}, async (page) => {
  await ask(page, QUESTION);
  await page.locator(".cite").first().hover();
  await page.waitForTimeout(500);
});
await shot("lesson", { width: 1440, height: 860 }, async (page) => {
  await ask(page, QUESTION);
  await page.locator(".cite").first().click();
  await page.locator("quire-lesson mark").first().waitFor();
});
await shot("refusal", {}, async (page) => ask(page, "Which volcano erupted near Naples in the year 79?"));
await shot("filters", {}, async (page) => {
  await page.getByLabel("Module").selectOption("ros2");
  await ask(page, "How do nodes exchange messages?");
});
const slow = await startStub({ delay: 900 });
await shot("streaming", { base: slow.url }, async (page) => {
  await ask(page, "What is a lifecycle node?", false);
  await page.locator(".cite").nth(1).waitFor();
});
await slow.close();
await shot("thread", {}, async (page) => {
  await ask(page, QUESTION);
  await ask(page, "What does best effort mean?");
  await ask(page, "What is a costmap?");
});
await shot("urdu", { base: stub.url }, async (page) => ask(page, "کوالٹی آف سروس کیا ہے؟ اردو میں بتائیں"));
await shot("server-away", {}, async (page) => {
  await ask(page, QUESTION);
  await page.route("**/chat/stream", (route) => route.abort());
  await page.route("**/livez", (route) => route.abort());
  await ask(page, "And what does volatile mean?", false);
  await page.getByText("can’t be reached").waitFor();
});
const phone = { width: 390, height: 844, hasTouch: true, isMobile: true };
await shot("phone-welcome", phone, examples);
await shot("phone-answer", phone, async (page) => ask(page, QUESTION));
await shot("phone-citation", phone, async (page) => {
  await ask(page, QUESTION);
  await page.locator(".cite").first().tap();
  await page.waitForTimeout(500);
});
await shot("phone-lesson", { ...phone, colorScheme: "dark" }, async (page) => {
  await ask(page, QUESTION);
  await page.locator(".source").first().tap();
  await page.locator("quire-lesson mark").first().waitFor();
});
await shot("tablet", { width: 820, height: 1100 }, async (page) => ask(page, QUESTION));

// The author's view (with the stub's figures: a book that was just ingested has none), and the widget.
const site = await startSite(server.url);
const admin = async (name, tab, steps = async () => {}, base = stub.url) =>
  shot(`admin-${name}`, { base, path: `/admin#${tab}`, height: 860 }, steps);
await admin("books", "books", async (page) => {
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator("progress").waitFor();
});
await admin("gaps", "gaps");
await admin("weak", "weak");
await admin("explain", "explain", async (page) => {
  await page.getByLabel("Question").fill("how do I keep messages for late joiners");
  await page.keyboard.press("Enter");
  await page.getByRole("table").waitFor();
}, server.url);
await admin("usage", "usage");
await admin("keys", "keys");
const selectText = (page, id) => page.evaluate((target) => {
  const range = document.createRange();
  range.selectNodeContents(document.getElementById(target));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}, id);
await shot("widget-select", { base: site.url, path: "/behind-proxy.html" }, async (page) => {
  await selectText(page, "reliability");
  await page.locator(".bubble").waitFor();
});
await shot("widget-selection-answer", { base: site.url, path: "/behind-proxy.html" }, async (page) => {
  await selectText(page, "reliability");
  await page.locator(".bubble").click();
  await ask(page, "What does best effort do with a message?");
});
await shot("widget-answer", { base: site.url, path: "/behind-proxy.html" }, async (page) => {
  await page.getByRole("button", { name: "Ask the book" }).click();
  await ask(page, QUESTION);
});
await shot("widget-phone", { ...phone, base: site.url, path: "/behind-proxy.html" }, async (page) => {
  await page.getByRole("button", { name: "Ask the book" }).tap();
  await ask(page, QUESTION);
});

await browser.close();
await Promise.all([server.close(), stub.close(), site.close()]);
