/** Builds the chat page and the author's view into the Python package. */
import { defineConfig } from "vite";

import { minifyCss } from "./minify-css.ts";

const api = process.env.QUIRE_API ?? "http://127.0.0.1:8000";
const routes = ["/chat", "/books", "/documents", "/chunks", "/sessions", "/feedback", "/ingestion",
  "/admin/", "/livez", "/llms.txt", "/search"];

export default defineConfig({
  plugins: [minifyCss()],
  base: "./",
  build: {
    outDir: process.env.QUIRE_STATIC ?? "../src/quire/web/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: { input: ["index.html", "admin.html"] },
  },
  server: { proxy: Object.fromEntries(routes.map((route) => [route, { target: api }])) },
});
