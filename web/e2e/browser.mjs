/** Debian's Chromium (or what find_browser.sh finds), driven by playwright-core. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const script = fileURLToPath(new URL("../../scripts/find_browser.sh", import.meta.url));

/** The path of a browser, or nothing (the script says so loudly). */
export function findBrowser() {
  try {
    return execFileSync("bash", [script], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  } catch {
    return undefined;
  }
}

/** Starts the browser with an empty profile; nothing in it talks to the outside by itself. */
export async function launch(executablePath = findBrowser()) {
  const home = mkdtempSync(join(tmpdir(), "quire-browser-"));
  const browser = await chromium.launch({
    env: { ...process.env, XDG_CONFIG_HOME: home },
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
  });
  browser.on("disconnected", () => rmSync(home, { recursive: true, force: true }));
  return browser;
}
