import { defineConfig } from 'tsup'

/** Builds the server that renders the page. */
export default defineConfig({
  entry: ['src/main.tsx'],
  outDir: 'dist/server',
  format: 'esm',
  target: 'node20',
  platform: 'node',
  removeNodeProtocol: false,
  silent: true,
})
