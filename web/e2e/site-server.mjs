/** Docs pages on their own origin; `/quire/…` is passed on to the API, as many sites set it up. */
import { createServer, request as send } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const SITES = fileURLToPath(new URL("./sites", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".json": "application/json" };

/**
 * Serves `root`; `?as=name` gives that page under any path. `{{API}}` and `{{KEY}}` in a page become what
 * `site.api` and `site.key` say, and `tag` goes in before `</body>`.
 */
export async function startSite(apiUrl = "", { root = SITES, tag = "", key = "pk_test" } = {}) {
  const site = { url: "", api: apiUrl, key, close: async () => {} };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://site");
    const path = searchParams.get("as") ?? pathname;
    if (path.startsWith("/quire/")) {
      const api = new URL(site.api);
      const passed = send({ host: api.hostname, port: api.port, path: request.url.slice("/quire".length), method: request.method, headers: { ...request.headers, host: api.host } }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      passed.on("error", () => response.destroy());
      return void request.pipe(passed);
    }
    const file = [path, `${path}.html`, `${path}/index.html`].map((name) => resolve(join(root, decodeURIComponent(name)))).find((name) => name.startsWith(root) && extname(name) && existsSync(name));
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
    const body = readFileSync(file);
    response.end(extname(file) === ".html" ? body.toString().replaceAll("{{API}}", site.api).replaceAll("{{KEY}}", site.key).replace("</body>", `${tag}</body>`) : body);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  site.url = `http://127.0.0.1:${server.address().port}`;
  site.close = () => new Promise((done) => (server.closeAllConnections(), server.close(done)));
  return site;
}
