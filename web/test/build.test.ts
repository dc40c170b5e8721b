/** What `make web` built: small, self-contained, and fit for the server's CSP. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const folder = process.env["QUIRE_STATIC"] ?? "../src/quire/web/static";

test.runIf(existsSync(`${folder}/widget.js`))("the widget is one script under 60 kB gzipped", () => {
  const script = readFileSync(`${folder}/widget.js`);
  expect(gzipSync(script, { level: 9 }).length).toBeLessThan(60_000);
  expect(script.toString()).not.toMatch(/\bimport\s*\(|document\.cookie|\beval\(|new Function\(/);
});

test.runIf(existsSync(`${folder}/index.html`)).each(["index.html", "admin.html"])("%s holds no inline script or style and names no other host", (name) => {
  const page = readFileSync(`${folder}/${name}`, "utf8");
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
  for (const [, asset] of page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) expect(existsSync(`${folder}/${asset}`), asset).toBe(true);
});

test.runIf(existsSync(`${folder}/assets`))("no script or style reaches for another host", () => {
  for (const name of readdirSync(`${folder}/assets`).filter((file) => file.endsWith(".css"))) {
    expect(readFileSync(`${folder}/assets/${name}`, "utf8")).not.toMatch(/https?:\/\//);
  }
});
