import { defaultClientConditions, defineConfig } from 'vite'

// The service's package carries what is built. Relative addresses, so that the same build works at `/` and under any sub-path.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  resolve: { conditions: ['@sluice/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../packages/server/studio',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
})
