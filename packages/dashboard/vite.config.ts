import optimizeLocales from '@react-aria/optimize-locales-plugin'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  // Addresses in the built page are relative, so that the application works below any path.
  base: './',
  plugins: [{ ...optimizeLocales.vite({ locales: ['en-US'] }), enforce: 'pre' }, react()],
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
      output: {
        // Without the groups, each piece of the first page that a later page needs too is a file.
        codeSplitting: {
          groups: [
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
