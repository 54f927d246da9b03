import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "src/**/*.test.{ts,tsx}",
            "test/*.test.ts",
            "test/{engine,language,contracts,daemon,api,forge,git,workspaces,poisoned}/**/*.test.ts",
          ],
          pool: "threads",
          isolate: false,
          testTimeout: 120_000,
        },
      },
      { test: { name: "e2e", include: ["test/{e2e,faults}/**/*.test.ts"], pool: "forks", testTimeout: 60_000 } },
      { test: { name: "long", include: ["test/long/**/*.test.ts"], pool: "forks", testTimeout: 3_600_000 } },
    ],
  },
});
