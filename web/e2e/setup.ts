/** Starts the server under test once, and lets tests take it away and bring it back. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";

import { findBrowser } from "./browser.mjs";
import { startServer } from "./server.mjs";

declare module "vitest" {
  interface ProvidedContext {
    server: { kind: string; url: string; control: string };
    browser: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const browser = findBrowser() ?? "";
  project.provide("browser", browser);
  if (!browser) {
    project.provide("server", { kind: "none", url: "", control: "" });
    return async () => undefined;
  }
  const server = await startServer();
  console.log(`browser tests: ${browser} against the ${server.kind} server`);
  const control = createServer((request, response) => {
    const act = request.url === "/stop" ? server.stop : server.start;
    Promise.resolve(act?.()).then(() => response.end("ok"), (error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((done) => control.listen(0, "127.0.0.1", done));
  project.provide("server", { kind: server.kind, url: server.url, control: `http://127.0.0.1:${(control.address() as AddressInfo).port}` });
  return async () => {
    control.close();
    await server.close();
  };
}
