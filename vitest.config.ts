import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const PACKAGES = ['core', 'protocol', 'storage', 'server', 'management']

const tests = ['src/**/*.test.ts', 'test/**/*.test.ts']
const pins = ['test/exports.test.ts']

/** With `FF_TESTS=quick`, the drills and the property tests are left out. */
const slow = process.env['FF_TESTS'] === 'quick' ? ['test/drills/**', '**/*.property.test.ts'] : []

export default defineConfig({
  ssr: { resolve: { conditions: ['@ff/source', 'module', 'node', 'development|production'] } },
  test: {
    // Property tests run thousands of cases, possibly on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: [join(import.meta.dirname, 'scripts/loopback-only.ts')],
    // Many tests provoke warnings. A failed test shows them.
    silent: 'passed-only',
    reporters: ['default', './scripts/closing-line.ts'],
    projects: [
      ...PACKAGES.map((name) => ({
        extends: true as const,
        test: {
          name,
          root: `packages/${name}`,
          include: tests,
          exclude: [...pins, ...slow],
          benchmark: { include: ['bench/**/*.bench.ts'] },
        },
      })),
      {
        extends: true,
        test: { name: 'standalone', root: 'examples/standalone', include: tests },
      },
      {
        extends: true,
        test: {
          name: 'rules',
          include: ['scripts/*.test.ts', ...pins.map((pin) => `packages/*/${pin}`)],
        },
      },
      {
        extends: true,
        test: {
          name: 'packaging',
          include: ['scripts/packaging/*.test.ts'],
          globalSetup: ['scripts/packaging/pack.ts'],
        },
      },
    ],
  },
})
