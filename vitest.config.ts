import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    // Some tests measure time on a machine that others share; a real defect fails every time. The run shows what was repeated.
    retry: 2,
    pool: 'forks',
  },
})
