import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { SELECTION, testFiles } from './scripts/test-selection.ts'

const PACKAGES = ['core', 'protocol', 'storage', 'server', 'management', 'client', 'openfeature']

/** The packages whose tests need database servers, which set-up files start. */
const ON_DATABASES = ['storage', 'server', 'management', 'standalone']
const setupOf = (name: string) =>
  join(import.meta.dirname, `packages/storage/test/${name}-server.ts`)
const databases = ['postgres', 'redis'].map(setupOf)
const poolers = [setupOf('pgbouncer')]
const proxies = [join(import.meta.dirname, 'examples/standalone/test/proxies/proxy-programs.ts')]

const files = testFiles('ts')
/** The test files that render components. */
const components = testFiles('tsx')
const pins = ['test/exports.test.ts']

/** The set-up files that start what the slow tests of a package need. */
function programsOf(name: string): readonly string[] {
  if (SELECTION === 'default' || !ON_DATABASES.includes(name)) return []
  const others = { storage: poolers, standalone: proxies }[name] ?? []
  return [...databases, ...others]
}

/** The test files of the dashboard that use a document without rendering components. */
const withDocument = '{src,test}/**/*.document.test.ts'
/** The tests of @ff/react, with the React in a folder of installed packages. */
const reactTests = (name: string, folder: string) => ({
  extends: true as const,
  oxc: { jsx: { runtime: 'automatic' as const } },
  resolve: {
    alias: ['react', 'react-dom'].map((each) => ({
      find: new RegExp(`^${each}(?=/|$)`),
      replacement: join(import.meta.dirname, 'packages/react', folder, 'node_modules', each),
    })),
  },
  test: {
    name,
    root: 'packages/react',
    include: [...files.include, ...components.include],
    exclude: [...files.exclude, ...components.exclude, ...pins],
    environment: 'happy-dom',
  },
})
const dashboard = {
  extends: true as const,
  oxc: { jsx: { runtime: 'automatic' as const } },
}

export default defineConfig({
  // Without `module`: some packages have files for it that only bundlers can load.
  ssr: { resolve: { conditions: ['@ff/source', 'node', 'development|production'] } },
  // The tests with a document.
  resolve: { conditions: ['@ff/source', 'module', 'browser', 'development|production'] },
  test: {
    maxWorkers: '100%',
    // The limits only end tests that hang: tests wait for events, however slow the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // The files of a project share the loaded modules. Loading them again takes longer than most tests.
    isolate: false,
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
          include: files.include,
          exclude: [...files.exclude, ...pins],
          benchmark: { include: ['bench/**/*.bench.ts'] },
          globalSetup: [...programsOf(name)],
        },
      })),
      {
        ...dashboard,
        test: {
          name: 'dashboard',
          root: 'packages/dashboard',
          include: files.include,
          exclude: [...files.exclude, ...pins, withDocument, 'test/e2e/**'],
        },
      },
      {
        ...dashboard,
        test: {
          name: 'dashboard-document',
          root: 'packages/dashboard',
          include: [...components.include, ...(SELECTION === 'slow' ? [] : [withDocument])],
          exclude: components.exclude,
          environment: 'happy-dom',
          // Each file needs a document and a state of the application of its own.
          isolate: true,
          setupFiles: [
            join(import.meta.dirname, 'scripts/loopback-only.ts'),
            join(import.meta.dirname, 'packages/dashboard/test/patience.ts'),
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'vue',
          root: 'packages/vue',
          include: files.include,
          exclude: [...files.exclude, ...pins],
          environment: 'happy-dom',
        },
      },
      reactTests('react', '.'),
      reactTests('react-18', 'test/react-18'),
      {
        extends: true,
        test: {
          name: 'built-e2e',
          root: 'packages/dashboard',
          include: ['test/e2e/**/*.e2e.ts'],
          // Each file starts a server and a browser, and some measure times.
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'standalone',
          root: 'examples/standalone',
          include: files.include,
          exclude: files.exclude,
          globalSetup: [...programsOf('standalone')],
        },
      },
      {
        extends: true,
        test: {
          name: 'rules',
          // None of them is slow.
          include:
            SELECTION === 'slow'
              ? []
              : ['scripts/*.test.ts', ...pins.map((pin) => `packages/*/${pin}`)],
        },
      },
      {
        extends: true,
        test: {
          name: 'built-packaging',
          include: ['scripts/packaging/*.test.ts'],
          globalSetup: ['scripts/packaging/pack.ts'],
        },
      },
    ],
  },
})
