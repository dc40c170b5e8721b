/** Builds widget.js: one self-contained script for any docs site. */
import { defineConfig } from "vite";

import { minifyCss } from "./minify-css.ts";

export default defineConfig({
  plugins: [minifyCss()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: process.env.QUIRE_STATIC ?? "../src/quire/web/static",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/widget/main.ts", formats: ["iife"], name: "QuireWidget", fileName: () => "widget.js" },
  },
});
