// Makes the pictures of README and docs from the real page: `npm run pictures`.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { build, preview } from 'vite'
import { animated } from './apng.ts'

const STUDIO = fileURLToPath(new URL('../apps/studio/', import.meta.url))
const PICTURES = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const CONFIG = `${STUDIO}vite.config.ts`
const FRAMES = 16
const FRAME_MS = 250

await build({ root: STUDIO, configFile: CONFIG, logLevel: 'warn' })
const server = await preview({ root: STUDIO, configFile: CONFIG, preview: { port: 0, host: '127.0.0.1' } })
const address = server.resolvedUrls!.local[0]!
const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  mkdirSync(PICTURES, { recursive: true })
  for (const theme of ['light', 'dark'] as const) {
    const page = await browser.newPage({
      viewport: { width: 1440, height: 1130 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    })
    await page.goto(address)
    for (let n = 0; n < 2; n++) await page.click('[data-do="advance"]')
    await page.screenshot({ path: `${PICTURES}studio-${theme}.png` })
    await page.close()
  }
  const page = await browser.newPage({ viewport: { width: 900, height: 700 }, reducedMotion: 'reduce' })
  const hash = '#/?shaping=off&slidingWindow=off&slidingLog=off&concurrency=off'
  await page.goto(`${address}${hash}`)
  await page.click('[data-pattern="bursty"]')
  await page.click('[data-do="play"]')
  await page.fill('[aria-label="Milliseconds to advance"]', String(FRAME_MS * 4))
  const frames: Buffer[] = []
  const lanes = page.locator('.lanes')
  for (let n = 0; n < FRAMES; n++) {
    frames.push(await lanes.screenshot())
    await page.click('[data-do="advance"]')
  }
  await animated(frames, FRAME_MS, `${PICTURES}studio.png`)
} finally {
  await browser.close()
  await server.close()
}
