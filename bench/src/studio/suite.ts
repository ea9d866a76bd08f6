import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { build, preview } from 'vite'
import type { BenchCase } from '../bench-case.ts'

const STUDIO = fileURLToPath(new URL('../../../apps/studio/', import.meta.url))
const CONFIG = `${STUDIO}vite.config.ts`
const VISITS = 5

interface TraceEvent {
  readonly name: string
  /** CPU time of the page's thread in microseconds, without that of other programs. */
  readonly tdur?: number
}

/** Measures how long the scripts of a frame take, and how soon the page is ready. */
export const cases: readonly BenchCase[] = [
  {
    name: 'ten thousand requests, five lanes',
    run: ({ sliceMs }) =>
      withStudio(async (browser, address) => {
        const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
        await page.goto(address)
        await page.click('[data-pattern="crowd"]')
        const lanes = await page.locator('[data-lane]').count()
        await browser.startTracing(page, { categories: ['devtools.timeline'] })
        await page.waitForTimeout(sliceMs)
        const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
        const frames = traceEvents
          .filter(({ name, tdur }) => name === 'FireAnimationFrame' && tdur !== undefined)
          .map(({ tdur }) => tdur! / 1000)
          .sort((a, b) => a - b)
        console.log(
          `script time a frame over ${frames.length} frames and ${lanes} lanes: median ${quantile(frames, 0.5).toFixed(2)} ms, p95 ${quantile(frames, 0.95).toFixed(2)} ms`,
        )
      }),
  },
  {
    name: 'page ready',
    run: () =>
      withStudio(async (browser, address) => {
        const times: number[] = []
        for (let visit = 0; visit < VISITS; visit++) {
          const page = await (await browser.newContext()).newPage()
          const startedAt = performance.now()
          await page.goto(address)
          await page.waitForSelector('[data-lane]')
          times.push(performance.now() - startedAt)
          await page.context().close()
        }
        times.sort((a, b) => a - b)
        console.log(
          `ready, from an empty cache: median ${quantile(times, 0.5).toFixed(0)} ms, worst ${times.at(-1)!.toFixed(0)} ms`,
        )
      }),
  },
]

async function withStudio(work: (browser: Browser, address: string) => Promise<void>): Promise<void> {
  await build({ root: STUDIO, configFile: CONFIG, logLevel: 'warn' })
  const server = await preview({ root: STUDIO, configFile: CONFIG, preview: { port: 0, host: '127.0.0.1' } })
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    await work(browser, server.resolvedUrls!.local[0]!)
  } finally {
    await browser.close()
    await server.close()
  }
}

function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) throw new Error('nothing was measured')
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
