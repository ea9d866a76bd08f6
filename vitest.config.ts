import { availableParallelism } from 'node:os'
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
    // They wait for servers and clocks more than they compute. By default a machine of two cores would get one worker.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // No test is about time: these only end one that hangs, and a busy machine is no reason to.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    include: ['{packages,bench,harness,scripts,examples,apps}/**/*.test.ts'],
  },
})
