import { defineConfig } from 'tsup'

export default defineConfig([
  {
    entry: ['src/main.ts'],
    format: 'esm',
    target: 'node20',
    platform: 'node',
    removeNodeProtocol: false,
    silent: true,
  },
  {
    entry: ['src/page.ts'],
    format: 'esm',
    platform: 'browser',
    noExternal: [/./],
    minify: true,
    silent: true,
  },
])
