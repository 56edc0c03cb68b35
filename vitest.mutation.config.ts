import { defineConfig } from 'vitest/config'

/** What `pnpm mutation` runs: the tests of the engine that need nothing outside its folder. */
export default defineConfig({
  ssr: { resolve: { conditions: ['@ff/source', 'module', 'node', 'development|production'] } },
  test: {
    root: 'packages/core',
    // Counting which mutants a test reaches makes the engine many times slower.
    testTimeout: 60_000,
    // To load the engine anew for each file of tests would cost more than the tests do.
    isolate: false,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [
      // Without this line, the property tests run too.
      '**/*.property.test.ts',
      'test/main-entry.test.ts',
      'test/exports.test.ts',
      'test/port.test.ts',
      // Their limits hold for an engine that does not count.
      'test/drills/**',
    ],
  },
})
