import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Builds the script of the page. */
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: 'dist/page',
    target: 'es2022',
    rolldownOptions: {
      input: 'src/page.tsx',
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
})
