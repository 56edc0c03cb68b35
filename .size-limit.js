import { dashboardSizes } from './packages/dashboard/scripts/sizes.js'

/** Hides warnings about chunks that built files import twice, which is intended. */
const modifyEsbuildConfig = (config) => ({
  ...config,
  logOverride: { 'ignored-bare-import': 'silent' },
})

export default [
  {
    name: '@ff/core',
    path: 'packages/core/dist/index.js',
    limit: '16.1 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/core and @ff/core/all-flags, what evaluates values',
    path: 'packages/core/dist/index.js',
    import: {
      './packages/core/dist/index.js': '{ compileFlagSet, parseContext }',
      './packages/core/dist/all-flags.js': '{ evaluateAll, valuesOf }',
    },
    limit: '24.8 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: 'mergeChanges of @ff/core/changes',
    path: 'packages/core/dist/changes.js',
    import: '{ mergeChanges }',
    limit: '1 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/core/flag-types',
    path: 'packages/core/dist/flag-types.js',
    limit: '0.35 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/core/flag-set-root',
    path: 'packages/core/dist/flag-set-root.js',
    limit: '2.8 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/client',
    path: 'packages/client/dist/index.js',
    limit: '6.8 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/client/local',
    path: 'packages/client/dist/local.js',
    limit: '27.6 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/client/vercel',
    path: 'packages/client/dist/vercel.js',
    limit: '0.7 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/react with the client',
    path: 'packages/react/dist/index.js',
    ignore: ['react'],
    import: {
      './packages/react/dist/index.js': '{ createFlagHooks }',
      './packages/client/dist/index.js': '{ createFlagClient }',
    },
    limit: '7.4 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/vue with the client',
    path: 'packages/vue/dist/index.js',
    ignore: ['vue'],
    import: {
      './packages/vue/dist/index.js': '{ createFlags }',
      './packages/client/dist/index.js': '{ createFlagClient }',
    },
    limit: '7.2 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/openfeature/web, with the client and the web SDK of OpenFeature',
    path: 'packages/openfeature/dist/web.js',
    import: {
      './packages/openfeature/dist/web.js': '{ createFlagProvider }',
      './packages/client/dist/index.js': '{ createFlagClient }',
      './packages/openfeature/node_modules/@openfeature/web-sdk/dist/esm/index.js':
        '{ OpenFeature }',
    },
    limit: '14 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  {
    name: '@ff/openfeature/react, without the SDK',
    path: 'packages/openfeature/dist/react.js',
    ignore: ['react', '@openfeature/react-sdk'],
    limit: '0.6 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
  ...dashboardSizes(),
]
