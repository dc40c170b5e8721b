import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { environment: "jsdom", include: ["test/**/*.test.ts"], maxWorkers: 1, isolate: false, testTimeout: 20_000 },
});
