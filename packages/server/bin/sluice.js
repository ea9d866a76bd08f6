#!/usr/bin/env node
// A committed file, so that a fresh install links the command before anything is built.
import { existsSync } from 'node:fs'

const built = new URL('../dist/main.js', import.meta.url)
if (!existsSync(built)) {
  console.error('sluice is not built yet: run `npm run build` in the checkout, or `npm start`, which does it')
  process.exit(1)
}
await import(built.href)
