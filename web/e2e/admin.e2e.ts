import { expect, test } from "vitest";

import { browserTests, visit } from "./page.ts";
import { startStub } from "./stub-server.mjs";

browserTests("the author's view", () => {
  test("books, a job with live progress, gaps, weak answers, ranks, usage and keys", async () => {
    const stub = await startStub();
    const page = await visit(`${stub.url}/admin`);
    await page.getByText("52 pages").waitFor();
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("progress").waitFor();
    await page.locator(".status.completed").waitFor({ timeout: 20_000 });
    await page.getByRole("tab", { name: "What to write next" }).click();
    await page.getByText("Does Nav2 support 3D costmaps? (6×)").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("It quotes the table, not the reason").waitFor();
    await page.getByRole("tab", { name: "Search explained" }).click();
    await page.getByLabel("Question").fill("quality of service");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("tbody tr").count()).toBeGreaterThan(0);
    await page.getByRole("tab", { name: "Usage" }).click();
    await page.locator("figure.chart").first().waitFor();
    await page.getByRole("tab", { name: "Keys" }).click();
    await page.getByLabel("Name").fill("CI");
    await page.getByLabel("Kind").selectOption("secret");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByText("sk_9c1d-shown-only-once").waitFor();
    await page.getByRole("button", { name: "Revoke CI" }).click();
    await page.getByText("The key was revoked.").waitFor();
    await stub.close();
  });

  test("a wrong key leads to the gate, and the right one opens it", async () => {
    const stub = await startStub({ key: "sk_admin" });
    const page = await visit(`${stub.url}/admin`);
    await page.getByLabel("Key").fill("sk_wrong");
    await page.keyboard.press("Enter");
    await page.getByLabel("Key").fill("sk_admin");
    await page.keyboard.press("Enter");
    await page.getByText("52 pages").waitFor();
    await stub.close();
  });

  test("what the server doesn't offer is said calmly", async () => {
    const stub = await startStub();
    const page = await visit(`${stub.url}/admin`);
    await page.route("**/admin/unanswered*", (route) => route.fulfill({ status: 404, contentType: "application/problem+json", body: '{"error_code":"not_found","message":"x"}' }));
    await page.getByRole("tab", { name: "What to write next" }).click();
    await page.getByText("This server doesn’t offer this yet.").waitFor();
    await stub.close();
  });
});
