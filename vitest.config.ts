import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Workspaces see each other's sources, so nothing has to be built before a test runs.
const conditions = ['@sluice/source', ...defaultServerConditions]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@sluice/source'] } },
  test: {
    // Tests share no globals, so they need no process each: that would cost more than most of them take.
    isolate: false,
    include: ['{packages,bench,harness,scripts,examples,apps}/**/*.test.ts'],
  },
})
