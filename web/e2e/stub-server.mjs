/**
 * Speaks Quire's HTTP API over the sample book, for work on the page without the service, and to give
 * answers no honest service would ("hostile 17"). Start it with `npm run stub`, or call `startStub`.
 */
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { hostileSource, hostileText } from "./hostile.mjs";
import { findSentences, readBook, sourceOf } from "./stub-book.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const STATIC = process.env.QUIRE_STATIC ? resolve(process.env.QUIRE_STATIC) : join(here, "../../src/quire/web/static");
const BOOK = join(here, "../../examples/physical-ai");
const BASE_URL = "https://example.org/physical-ai";
export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml" };
const REFUSAL = "The book doesn’t answer this question.";
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Starts the stub; `url` and `close` of what comes back are all a test needs. */
/** @param {{ port?: number, csp?: boolean, delay?: number, key?: string }} options */
export async function startStub({ port = 0, csp = true, delay = 60, key } = {}) {
  const chunks = readBook(BOOK, BASE_URL);
  /** @type {{ sessions: Map<string, any>, feedback: any[], jobs: any[], keys: any[], requests: any[], delay: number }} */
  const state = { sessions: new Map(), feedback: [], jobs: [], keys: [], requests: [], delay };
  const context = { chunks, state, csp, key };
  const server = createServer((request, response) => {
    handle(request, response, context).catch((error) => {
      console.error(error);
      if (!response.headersSent) problem(response, 500, "internal_error", "stub failed");
      else response.end();
    });
  });
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    state,
    close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))),
  };
}

async function handle(request, response, context) {
  const url = new URL(request.url, "http://stub");
  const { state } = context;
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Visitor-Id");
  response.setHeader("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE");
  if (request.method === "OPTIONS") return response.writeHead(204).end();
  const file = staticFile(url.pathname);
  if (request.method === "GET" && file) return sendFile(response, file, context.csp);
  if (url.pathname === "/livez") return send(response, 200, { status: "alive" });
  if (context.key && request.headers.authorization !== `Bearer ${context.key}`) {
    return problem(response, 401, "unauthorized", "a key is needed");
  }
  const body = await readBody(request);
  state.requests.push({ method: request.method, path: url.pathname, query: Object.fromEntries(url.searchParams), body });
  const route = ROUTES.find(([method, pattern]) => method === request.method && pattern.test(url.pathname));
  if (!route) return problem(response, 404, "not_found", "no such thing");
  await route[2](response, { ...context, url, body, match: route[1].exec(url.pathname) });
}

const ROUTES = [
  ["GET", /^\/books$/, (response, { chunks }) => send(response, 200, { books: [bookOf(chunks)] })],
  ["GET", /^\/llms\.txt$/, (response, { chunks }) => {
    const pages = [...new Map(chunks.map((c) => [c.source_file, c])).values()];
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
    response.end(`# Physical AI\n\n## Pages\n\n${pages.map((c) => `- [${c.page_title}](${c.source_url.replace(/#.*/, "")})`).join("\n")}\n`);
  }],
  ["POST", /^\/chat\/stream$/, chatStream],
  ["GET", /^\/chunks\/([^/]+)$/, (response, { chunks, match }) => {
    const chunk = chunks.find((c) => c.id === match[1]);
    return chunk ? send(response, 200, { chunks: [wire(chunk)] }) : problem(response, 404, "not_found", "no such chunk");
  }],
  ["GET", /^\/documents\/([^/]+)$/, (response, { chunks, match }) => {
    const found = chunks.filter((c) => c.parent_doc_id === match[1]);
    if (found.length === 0) return problem(response, 404, "not_found", "no such lesson");
    const { page_title, source_url, source_file, parent_doc_id } = found[0];
    return send(response, 200, { parent_doc_id, book_id: "physical-ai", page_title, source_url, source_file, chunks: found.map(wire) });
  }],
  ["GET", /^\/sessions$/, (response, { state }) => send(response, 200, { sessions: [...state.sessions.values()] })],
  ["GET", /^\/sessions\/([^/]+)$/, (response, { state, match }) => {
    const session = state.sessions.get(match[1]);
    return session ? send(response, 200, session) : problem(response, 404, "not_found", "no such session");
  }],
  ["PATCH", /^\/sessions\/([^/]+)$/, (response, { state, match, body }) => {
    const session = state.sessions.get(match[1]);
    if (!session) return problem(response, 404, "not_found", "no such session");
    session.title = body.title;
    return send(response, 200, session);
  }],
  ["DELETE", /^\/sessions\/([^/]+)$/, (response, { state, match }) => {
    state.sessions.delete(match[1]);
    response.writeHead(204).end();
  }],
  ["POST", /^\/feedback$/, (response, { state, body }) => (state.feedback.push(body), send(response, 201, { stored: true }))],
  ["GET", /^\/admin\/overview$/, (response, { chunks, state }) => send(response, 200, {
    books: [bookOf(chunks)], questions: 412, answered: 361, refused: 51, sessions: 97 + state.sessions.size, rated_up: 64, rated_down: 7,
  })],
  ["GET", /^\/admin\/unanswered$/, (response) => send(response, 200, { groups: [
    { section: { title: "Navigation with Nav2 › Costmaps and inflation", source_url: `${BASE_URL}/nav2#costmaps` }, count: 14, questions: [
      { question: "How do I add a voxel layer to the costmap?", count: 8, last_asked_at: "2025-11-14T09:12:00Z" },
      { question: "Does Nav2 support 3D costmaps?", count: 6, last_asked_at: "2025-11-13T18:40:00Z" }] },
    { section: { title: "Quality of service › The policies", source_url: `${BASE_URL}/qos#the-policies` }, count: 5, questions: [
      { question: "What is the default lifespan?", count: 5, last_asked_at: "2025-11-12T08:00:00Z" }] },
    { section: null, count: 3, questions: [{ question: "Can I use ROS 2 on Windows 11 Arm?", count: 3, last_asked_at: "2025-11-10T11:00:00Z" }] },
  ] })],
  ["GET", /^\/admin\/low-confidence$/, (response) => send(response, 200, { questions: [
    { question: "Is best effort faster than reliable?", confidence: 0.41, confidence_level: "low", rating: "down", reason: "It quotes the table, not the reason", asked_at: "2025-11-14T10:02:00Z" },
    { question: "Which GPU do I need for Isaac Sim?", confidence: 0.52, confidence_level: "low", rating: null, reason: null, asked_at: "2025-11-13T15:30:00Z" },
  ] })],
  ["GET", /^\/admin\/explain$/, (response, { chunks, url }) => {
    const found = findSentences(chunks, url.searchParams.get("q") ?? "", 6);
    send(response, 200, { query: url.searchParams.get("q"), results: found.map((f, i) => ({
      id: f.chunk.id, page_title: f.chunk.page_title, section_title: f.chunk.section_title, source_url: f.chunk.source_url, text: f.quote,
      dense_rank: ((i * 3) % found.length) + 1, dense_score: 0.71 - i * 0.05, bm25_rank: i % 2 ? null : i + 1, bm25_score: i % 2 ? null : 14.2 - i,
      fused_rank: i + 1, fused_score: 0.033 - i * 0.002, rerank_rank: i + 1, rerank_score: 0.96 - i * 0.11,
    })) });
  }],
  ["GET", /^\/admin\/usage$/, (response) => send(response, 200, { days: Array.from({ length: 30 }, (_, i) => ({
    date: new Date(Date.UTC(2025, 9, 17 + i)).toISOString().slice(0, 10),
    questions: 8 + ((i * 7) % 19), answered: 7 + ((i * 7) % 17), refused: 1 + (i % 3), errors: i % 11 === 0 ? 1 : 0,
    p50_ms: 90 + ((i * 13) % 60), p95_ms: 240 + ((i * 29) % 180),
  })) })],
  ["GET", /^\/admin\/keys$/, (response, { state }) => send(response, 200, { keys: [
    { id: "k1", name: "Docs site", prefix: "pk_7f3a", scopes: ["ask"], book_id: "physical-ai", origins: ["https://example.org"], created_at: "2025-10-01T08:00:00Z", last_used_at: "2025-11-14T19:00:00Z", revoked_at: null },
    ...state.keys] })],
  ["POST", /^\/admin\/keys$/, (response, { state, body }) => {
    const key = { id: `k${state.keys.length + 2}`, prefix: "sk_9c1d", scopes: body.scopes, name: body.name, book_id: body.book_id ?? null, origins: body.origins ?? [], created_at: new Date().toISOString(), last_used_at: null, revoked_at: null };
    state.keys.push(key);
    send(response, 201, { ...key, key: "sk_9c1d-shown-only-once" });
  }],
  ["DELETE", /^\/admin\/keys\/([^/]+)$/, (response, { state, match }) => {
    for (const key of state.keys) if (key.id === match[1]) key.revoked_at = new Date().toISOString();
    response.writeHead(204).end();
  }],
  ["GET", /^\/ingestion\/jobs$/, (response, { state }) => {
    for (const job of state.jobs) {
      if (job.status !== "running") continue;
      job.files_processed = Math.min(job.files_discovered, job.files_processed + 17);
      if (job.files_processed >= job.files_discovered) Object.assign(job, { status: "completed", completed_at: new Date().toISOString(), duration_seconds: 3 });
    }
    send(response, 200, { jobs: [...state.jobs].reverse() });
  }],
  ["POST", /^\/ingestion\/jobs$/, (response, { state, body }) => {
    const job = { job_id: state.jobs.length + 1, book_id: body.book_id, mode: body.mode ?? "incremental", status: "running", files_discovered: 52, files_processed: 0, files_skipped: 0, files_failed: 0, chunks_created: 311, chunks_deleted: 0, started_at: new Date().toISOString(), completed_at: null, duration_seconds: null, error_message: null };
    state.jobs.push(job);
    send(response, 202, job);
  }],
];

async function chatStream(response, { chunks, state, body }) {
  if (!body?.query?.trim()) return problem(response, 422, "validation_error", "query: must not be blank", { fields: [{ field: "query" }] });
  const known = new Set(["query", "book_id", "session_id", "mode", "selected_text", "selection", "filters", "top_k", "stream"]);
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  if (unknown.length) return problem(response, 422, "validation_error", `${unknown[0]}: extra`, { fields: [{ field: unknown[0] }] });
  if (body.query === "limit") return problem(response, 429, "rate_limited", "too many requests", undefined, { "Retry-After": "7" });
  const answer = answerTo(chunks, body);
  const session = state.sessions.get(body.session_id) ?? { session_id: body.session_id, thread_id: body.session_id, title: body.query, book_id: "physical-ai", messages: [], created_at: answer.timestamp };
  session.updated_at = answer.timestamp;
  session.messages.push({ role: "user", content: body.query, timestamp: answer.timestamp }, { role: "assistant", content: answer.answer, timestamp: answer.timestamp, confidence: answer.confidence });
  if (body.session_id) state.sessions.set(body.session_id, session);
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  let id = 0;
  const emit = (event) => response.write(`event: ${event.type}\nid: ${++id}\ndata: ${JSON.stringify(event)}\n\n`);
  response.write(": keepalive\n\n");
  const slow = /slowly/.test(body.query) ? 500 : state.delay;
  for (const piece of answer.pieces) {
    if (response.destroyed) return;
    await sleep(slow);
    emit({ type: "chunk", content: piece.text, citations: piece.citations });
    if (/break off/.test(body.query)) return void (await sleep(800), response.destroy());
  }
  const { pieces, ...whole } = answer;
  emit({ type: "sources", sources: whole.sources });
  emit({ type: "done", metadata: whole.metadata, response: whole });
  response.end();
}

function answerTo(chunks, body) {
  const hostile = /^hostile (\d+)$/.exec(body.query);
  if (hostile) {
    const n = Number(hostile[1]);
    const text = hostileText(n);
    const half = Math.floor(text.length / 2);
    return respond(body, [{ text: text.slice(0, half), citations: [1] }, { text: text.slice(half), citations: [1] }], [hostileSource(n, 1)], {
      suggestions: [{ title: hostileText(n + 3), source_url: "javascript:alert(2)" }, { title: "x", source_url: `https://evil.example/sug${n}` }],
      should_answer: n % 5 !== 0, refusal_reason: n % 5 ? null : text,
    });
  }
  if (body.query === "Hello!") {
    return respond(body, [{ text: `Hello. What would you like to know about ${bookOf(chunks).title}?`, citations: [] }], [], {
      should_answer: false, clarification: true, confidence: 0, confidence_level: "insufficient",
    });
  }
  if (body.mode === "selected_text") return answerFromSelection(body);
  if (/urdu|اردو|[ٹڈڑں]/.test(body.query)) {
    const [found] = findSentences(chunks, "quality of service reliability", 1);
    return respond(body, [{ text: "کوالٹی آف سروس ان اصولوں کا مجموعہ ہے جو ایک پبلشر پیش کرتا ہے اور ایک سبسکرائبر کسی ٹاپک کے لیے مانگتا ہے۔ [1]", citations: [1] }], [sourceOf(found, 1)]);
  }
  const found = findSentences(chunks, body.query);
  if (found.length === 0 || found.every((f) => f.near)) {
    return respond(body, [{ text: REFUSAL, citations: [] }], [], {
      should_answer: false, refusal_reason: "low_confidence", confidence: 0.12, confidence_level: "insufficient",
      suggestions: found.map((f) => ({ title: `${f.chunk.page_title} › ${f.chunk.section_title}`, source_url: f.chunk.source_url })),
    });
  }
  const good = found.filter((f) => !f.near);
  const pieces = good.map((f, i) => ({ text: `${i ? " " : ""}${f.quote} [${i + 1}]`, citations: [i + 1] }));
  if (/code|import a profile/.test(body.query)) pieces.push({ text: "\n\n```python\nfrom rclpy.qos import QoSProfile, DurabilityPolicy\n\nlatched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)\n```\n", citations: [1] });
  const score = good[0].score;
  return respond(body, pieces, good.map((f, i) => sourceOf(f, i + 1)), {
    confidence: Math.min(0.97, score), confidence_level: score > 0.8 ? "high" : score > 0.65 ? "medium" : "low",
  });
}

function answerFromSelection(body) {
  const text = body.selected_text;
  const wanted = new Set((body.query.toLowerCase().match(/\p{L}{4,}/gu) ?? []));
  const sentences = [...text.matchAll(/[^.!?\n]+[.!?]?/g)].filter((m) => m[0].trim());
  const best = sentences.map((m) => [(m[0].toLowerCase().match(/\p{L}{4,}/gu) ?? []).filter((w) => wanted.has(w)).length, m]).sort((a, b) => b[0] - a[0])[0][1];
  const quote = best[0].trim();
  const start = [...text.slice(0, best.index + best[0].indexOf(quote))].length;
  const source = { number: 1, source_url: "selected_text", page_title: "", section_heading: "", chunk_text: text.slice(0, 500), relevance_score: 0.9, chunk_id: null, source_file: "", quote, char_start: start, char_end: start + [...quote].length, line_start: 1, line_end: 1, highlight: null, cosine: 0.8 };
  return respond(body, [{ text: `${quote} [1]`, citations: [1] }], [source], { mode: "selected_text", confidence: 0.9, confidence_level: "high" });
}

function respond(body, pieces, sources, more = {}) {
  return {
    pieces, answer: pieces.map((p) => p.text).join(""), sources, mode: "general",
    metadata: { query_time_ms: 42, chunks_retrieved: sources.length, model: "stub", tokens_used: 0, trace_id: "stub-trace" },
    book_id: "physical-ai", session_id: body.session_id ?? null, timestamp: new Date().toISOString(),
    confidence: 0.9, confidence_level: "high", should_answer: true, refusal_reason: null, clarification: false,
    applied_filters: body.filters ?? {}, sentences: [], suggestions: [], standalone_question: body.query, ...more,
  };
}

function bookOf(chunks) {
  return {
    id: "physical-ai", title: "Physical AI: from ROS 2 to VLA", base_url: BASE_URL,
    pages: new Set(chunks.map((c) => c.source_file)).size, chunks: chunks.length, last_ingested_at: "2025-11-14T07:30:00Z",
    taxonomy: { modules: ["ros2", "gazebo", "isaac", "vla"], tiers: [1, 2, 3, 4], proficiency_levels: ["A1", "A2", "B1", "B2", "C1", "C2"], layers: ["L1", "L2", "L3", "L4"], chapters: [0, 20] },
  };
}

function wire({ words: _words, ...chunk }) {
  return chunk;
}

function staticFile(path) {
  const name = { "/": "index.html", "/admin": "admin.html" }[path] ?? (/^\/(assets\/[\w.-]+|widget\.js|favicon\.svg)$/.test(path) ? path.slice(1) : undefined);
  if (name && existsSync(join(STATIC, name))) return join(STATIC, name);
  const site = /^\/sites\/([\w./-]+)$/.exec(path)?.[1];
  const file = site && !site.includes("..") && join(here, "sites", site);
  return file && existsSync(file) ? file : undefined;
}

function sendFile(response, file, csp) {
  if (csp && !file.includes("/sites/")) response.setHeader("Content-Security-Policy", CSP);
  response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "X-Content-Type-Options": "nosniff" });
  response.end(readFileSync(file));
}

function send(response, status, body) {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

function problem(response, status, code, message, details = null, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/problem+json", ...headers });
  response.end(JSON.stringify({ error_code: code, message, details, trace_id: "stub-trace", status, title: code, detail: message }));
}

async function readBody(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  return text ? JSON.parse(text) : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stub = await startStub({ port: Number(process.env.PORT ?? 8000) });
  console.log(`stub server on ${stub.url}`);
}
