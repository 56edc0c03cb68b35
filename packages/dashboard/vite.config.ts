import optimizeLocales from '@react-aria/optimize-locales-plugin'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

const FIRST = 'first-requests'

export default defineConfig({
  // Addresses in the built page are relative, so that the application works below any path.
  base: './',
  plugins: [
    { ...optimizeLocales.vite({ locales: ['en-US'] }), enforce: 'pre' },
    react(),
    firstScript(),
  ],
  resolve: { conditions: ['@ff/source', ...defaultClientConditions] },
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // The polyfill would be an inline script, which the policy of the page refuses.
    modulePreload: { polyfill: false },
    // A font or an icon in a `data:` address would be loaded with every style sheet.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { index: 'index.html', [FIRST]: 'src/first-requests/start.ts' },
      output: {
        // Without the groups, each piece of the first page that a later page needs too is a file.
        codeSplitting: {
          groups: [
            { name: FIRST, test: /src\/first-requests\//, priority: 1 },
            { name: 'shell', tags: ['$initial'] },
            {
              name: 'widgets',
              test: /react-aria|react-stately|@internationalized/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
})

/** Adds the small script that sends the first requests while the application is loaded. */
function firstScript(): Plugin {
  return {
    name: FIRST,
    transformIndexHtml: {
      order: 'post',
      handler: (page, { bundle = {} }) => {
        const first = Object.values(bundle).find(({ name }) => name === FIRST)
        if (first === undefined) throw new Error(`There is no script ${FIRST}.`)
        const script = `<script type="module" async crossorigin src="./${first.fileName}"></script>`
        return page.replace('<script', `${script}\n    <script`)
      },
    },
  }
}
