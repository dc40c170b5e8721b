/**
 * The server under test: `quire serve` with the sample book where the command works, else the stub.
 * QUIRE_E2E_SERVER=real|stub decides; QUIRE_E2E_URL names one that already runs.
 */
import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

import { startStub } from "./stub-server.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const quire = `${root}.venv/bin/quire`;
const env = { ...process.env, QUIRE_HOME: process.env.QUIRE_E2E_HOME ?? `${root}web/test-results/home`, QUIRE_MODEL: "extractive" };

/** `{ kind, url, stop, start, close }`: `stop` and `start` take the server away and bring it back. */
export async function startServer() {
  const wanted = process.env.QUIRE_E2E_SERVER;
  if (process.env.QUIRE_E2E_URL) {
    return { kind: "given", url: process.env.QUIRE_E2E_URL, stop: undefined, start: undefined, close: async () => {} };
  }
  if (wanted !== "stub" && existsSync(quire)) {
    try {
      return await startReal();
    } catch (error) {
      if (wanted === "real") throw error;
      console.error(`!!! quire serve doesn't work here (${error.message}); the browser tests use the stub server !!!`);
    }
  }
  return await startReplaceableStub();
}

/**
 * A server of its own with keys on, and a way to make them; undefined where `quire serve` is not under test.
 * @returns {Promise<{ url: string, key: (...options: string[]) => Promise<string>, close: () => Promise<void> } | undefined>}
 */
export async function startGuarded(kind, { baseUrl = "https://example.org/physical-ai" } = {}) {
  if (kind !== "real") return undefined;
  const guarded = {
    ...env, QUIRE_HOME: `${env.QUIRE_HOME}-guarded`, QUIRE_MODELS: env.QUIRE_MODELS ?? `${env.QUIRE_HOME}/models`,
    QUIRE_AUTH: "on", QUIRE_RATE_LIMIT: "10000", QUIRE_VISITOR_LIMIT: "10000",
  };
  rmSync(guarded.QUIRE_HOME, { recursive: true, force: true });
  const book = `${guarded.QUIRE_HOME}/physical-ai`;
  cpSync(`${root}examples/physical-ai`, book, { recursive: true });
  const settings = readFileSync(`${book}/quire.toml`, "utf8");
  writeFileSync(`${book}/quire.toml`, settings.replace(/^base_url = .*$/m, `base_url = "${baseUrl}"`));
  const server = await startReal(guarded, book);
  const key = async (...options) => JSON.parse(await run(["keys", "create", ...options, "--json"], guarded)).key;
  return { url: server.url, key, close: server.close };
}

/** Runs a command without holding up what goes on meanwhile. */
function run(command, environment) {
  return new Promise((done, failed) => {
    execFile(quire, command, { env: environment, timeout: 300_000, maxBuffer: 2 ** 24 }, (error, out, err) =>
      error ? failed(new Error(`quire ${command[0]} failed: ${(err || out || String(error)).slice(-300)}`)) : done(out));
  });
}

async function startReal(environment = env, book = `${root}examples/physical-ai`) {
  await run(["ingest", book, "--json"], environment);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child;
  const start = async () => {
    child = spawn(quire, ["serve", "--port", String(port)], { env: environment, stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    child.stderr.on("data", (piece) => (log = (log + piece).slice(-4000)));
    for (let tries = 0; tries < 240; tries++) {
      if (child.exitCode !== null) throw new Error(`quire serve ended: ${log}`);
      const ready = await fetch(`${url}/readyz`).then((r) => r.ok, () => false);
      if (ready) return;
      await new Promise((done) => setTimeout(done, 250));
    }
    child.kill("SIGKILL");
    throw new Error(`quire serve was not ready within a minute: ${log}`);
  };
  const stop = async () => {
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 12_000);
    await gone;
    clearTimeout(timer);
  };
  await start();
  return { kind: "real", url, start, stop, close: stop };
}

async function startReplaceableStub() {
  let stub = await startStub();
  const port = Number(new URL(stub.url).port);
  return {
    kind: "stub", url: stub.url,
    stop: () => stub.close(),
    start: async () => { stub = await startStub({ port }); },
    close: () => stub.close(),
  };
}

function freePort() {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
