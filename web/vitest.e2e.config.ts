import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"], globalSetup: ["e2e/setup.ts"], maxWorkers: 1, fileParallelism: false,
    testTimeout: 240_000, hookTimeout: 400_000, teardownTimeout: 20_000,
  },
});
