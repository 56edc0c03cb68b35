/** Hides warnings about chunks that built files import twice, which is intended. */
const modifyEsbuildConfig = (config) => ({
  ...config,
  logOverride: { 'ignored-bare-import': 'silent' },
})

export default [
  {
    name: '@ff/core',
    path: 'packages/core/dist/index.js',
    limit: '14.4 kB',
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
    limit: '19.2 kB',
    brotli: true,
    modifyEsbuildConfig,
  },
]
