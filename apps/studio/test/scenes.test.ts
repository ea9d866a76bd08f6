import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SCENES } from '../src/scenes/list.ts'
import { Studio } from './fixtures/browser.ts'

/** What each scene claims, as the page must show it once it has run. */
const CLAIMS: Readonly<Record<string, Readonly<Record<string, number | string | ((value: number) => boolean)>>>> = {
  'boundary-burst': { fixed: 200, counter: n => n <= 100, log: 100, bucket: n => n <= 102 },
  'idle-then-burst': { bucket: 20, gcra: 1, fixed: 50 },
  smoothing: { policing: 20, shaping: 5, last: '3.8 s' },
  'thundering-herd': { epoch: 1000, key: n => n < 100, bucket: n => n < 100 },
  'shared-address': { address: 90, user: 0 },
  'rotating-addresses': { ip: 500, three: 20 },
  'weighted-cost': { requests: 2500, units: 100, exports: 4 },
  'raw-paths': { 'raw-served': 10_000, 'raw-keys': 10_000, 'route-served': 100, 'route-keys': 1 },
  'get-then-set': { look: 11, atomic: 10 },
  'ten-nodes': { whole: 100, flood: 1000, pinned: 10, shared: 100 },
  'store-down': { open: 200, closed: 0, local: 25 },
  'clock-skew': { own: 200, store: 100 },
  memory: { gcra: n => n < 500, log: n => n > 5000 },
  'retry-jitter': { plain: n => n > 300, jitter: n => n < 240, 'plain-peak': 80, 'jitter-peak': n => n < 80 },
  'limit-or-queue': { refuse: 5, queue: '5.8 s', bounded: 11, 'bounded-wait': '2 s' },
}

let studio: Studio
beforeAll(async () => {
  studio = await Studio.open()
})
afterEach(() => studio.leave())
afterAll(() => studio.close())

test('every scene has a claim', () => {
  expect(Object.keys(CLAIMS).sort()).toEqual(SCENES.map(({ id }) => id).sort())
})

test.each(SCENES)('$id shows what it claims, and which answer was right', async ({ id, right, answers }) => {
  const page = await studio.visit(`#/scenes/${id}`)
  await page.click(`[data-answer="${(right + 1) % answers.length}"]`)
  await page.waitForSelector('[data-conclusion]')
  expect(await page.locator('[data-verdict="right"]').getAttribute('data-answer')).toBe(String(right))
  expect(await page.locator('[data-verdict="wrong"]').count()).toBe(1)
  for (const [figure, claim] of Object.entries(CLAIMS[id]!)) {
    const text = (await page.locator(`[data-figure="${figure}"]`).textContent()) ?? ''
    if (typeof claim === 'function') expect(claim(Number.parseFloat(text)), `${figure} is ${text}`).toBe(true)
    else expect(text, figure).toBe(String(claim))
  }
})

test('the race is drawn step by step: both servers read before either has counted', async () => {
  const page = await studio.visit('#/scenes/get-then-set')
  await page.click('[data-answer="1"]')
  const rows = page.locator('.steps').first().locator('tbody tr')
  const [a, b] = [1, 2].map(column => rows.locator(`td:nth-child(${column + 1})`))
  const read = (texts: string[]) => texts.map(text => text.split(':')[0])
  await rows.first().waitFor()
  expect(read(await a!.allTextContents())).toEqual(['reads', 'serves the request', '', '', 'counts it', ''])
  expect(read(await b!.allTextContents())).toEqual(['', '', 'reads', 'serves the request', '', 'counts it'])
  await page.click('[data-again]')
  expect(await page.locator('[data-conclusion]').count()).toBe(0)
  expect(await page.isEnabled('[data-answer="0"]')).toBe(true)
})
