import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Studio } from './fixtures/browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let studio: Studio
beforeAll(async () => {
  studio = await Studio.open()
})
afterEach(() => studio.leave())
afterAll(() => studio.close())

const PAGES = ['#/', '#/scenes', '#/scenes/boundary-burst', '#/scenes/retry-jitter', '#/choose', '#/try']
const THEMES = ['light', 'dark'] as const

test.each(PAGES.flatMap(hash => THEMES.map(theme => ({ hash, theme }))))(
  'axe finds nothing on $hash in $theme',
  async ({ hash, theme }) => {
    const page = await studio.visit(hash, { colorScheme: theme })
    await page.waitForSelector('h1', { state: 'attached' })
    if (hash.includes('scenes/')) {
      await page.click('[data-answer="0"]')
      await page.waitForSelector('[data-conclusion]')
    } else if (hash === '#/') {
      // All lanes, with something refused in each.
      for (const box of await page.locator('.chip input').all()) await box.check()
      await page.click('[data-do="burst"]')
    }
    await page.evaluate(axe)
    const violations = await page.evaluate(async () => {
      const found = await (
        window as unknown as {
          axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
        }
      ).axe.run()
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    })
    expect(violations).toEqual([])
  },
)

test('the first load is at most 150 KB compressed', async () => {
  const page = await studio.visit()
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  const bodies = await Promise.all(
    [...names, studio.address].map(async name => Buffer.from(await (await fetch(name)).arrayBuffer())),
  )
  const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)
  expect(names.length).toBeGreaterThan(1)
  expect(bytes).toBeLessThan(150_000)
})

test('the theme can be turned, and stays turned', async () => {
  const page = await studio.visit('#/', { colorScheme: 'light' })
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const before = await paper()
  await page.click('[data-do="theme"]')
  const after = await paper()
  expect(after).not.toBe(before)
  await page.reload()
  expect(await paper()).toBe(after)
})

test('the chooser explains its answers, and its policy opens in the simulator', async () => {
  const page = await studio.visit('#/choose')
  await page.getByLabel('Exact to the request, few keys or low limits').check()
  await page.getByLabel('Refuse', { exact: true }).check()
  expect(await page.getAttribute('[data-advice]', 'data-advice')).toBe('slidingLog')
  expect(await page.textContent('[data-code]')).toContain("createLimiter(slidingLog({ limit: 100, window: '1m' })")
  await page.click('[data-tab="yaml"]')
  expect(await page.textContent('[data-code]')).toContain('on_outage: closed')
  await page.click('[data-try]')
  expect(await page.inputValue('#slidingLog-limit')).toBe('100')
  expect(await page.locator('[data-lane]').count()).toBe(1)
})

test('without a service behind it, Try says what to do', async () => {
  const page = await studio.visit('#/try')
  await page.waitForSelector('[data-no-service]')
  expect(await page.isDisabled('[data-send="1"]')).toBe(true)
})
