import { defaultClientConditions, defineConfig } from 'vite'

// Relative addresses, so that the same build works at `/` and under any sub-path.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  resolve: { conditions: ['@sluice/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: 'dist', emptyOutDir: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
})
