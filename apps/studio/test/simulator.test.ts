import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { countOf, Studio } from './fixtures/browser.ts'

let studio: Studio
beforeAll(async () => {
  studio = await Studio.open()
})
afterEach(() => studio.leave())
afterAll(() => studio.close())

const EMPTY = '#/?caller=0'
const press = (page: Page, what: string) => page.click(`[data-do="${what}"]`)

test('a first visit with motion starts to move by itself', async () => {
  const page = await studio.visit('#/', { reducedMotion: 'no-preference' })
  await page.waitForFunction(() => Number(document.querySelector('[data-now]')?.getAttribute('data-now')) > 1200)
  expect(Number(await countOf(page, 'tokenBucket', 'served'))).toBeGreaterThan(0)
})

test('a burst is decided by every lane, and time gives back what each algorithm gives back', async () => {
  const page = await studio.visit(EMPTY)
  await press(page, 'burst')
  for (const lane of ['tokenBucket', 'shaping', 'fixedWindow', 'slidingWindow', 'slidingLog']) {
    expect([await countOf(page, lane, 'served'), await countOf(page, lane, 'refused')], lane).toEqual(['10', '2'])
  }
  expect(await page.textContent('[data-lane="tokenBucket"] [data-reason]')).toContain(
    '0 tokens left, 1 needed; try again in 1 s',
  )
  expect(await page.textContent('[data-lane="slidingLog"] [data-reason]')).toContain('10 of 10 in the last 10 s')
  await press(page, 'advance')
  await press(page, 'burst')
  expect(await countOf(page, 'tokenBucket', 'served')).toBe('15')
  expect(await countOf(page, 'slidingLog', 'served')).toBe('10')
})

test('the boundary attack gets twice the limit through a fixed window and not through the log', async () => {
  const page = await studio.visit(EMPTY)
  await page.click('[data-pattern="boundary"]')
  await press(page, 'play')
  for (let n = 0; n < 3; n++) await press(page, 'advance')
  expect(await countOf(page, 'fixedWindow', 'worst')).toBe('20 of 10')
  expect(await countOf(page, 'slidingLog', 'worst')).toBe('10 of 10')
  expect(await countOf(page, 'slidingLog', 'error')).toBe('0 %')
  expect(Number.parseFloat(await countOf(page, 'fixedWindow', 'error'))).toBeGreaterThan(0)
})

test('undo goes back before a burst, redo does it again', async () => {
  const page = await studio.visit(EMPTY)
  await press(page, 'burst')
  await press(page, 'undo')
  expect(await countOf(page, 'tokenBucket', 'served')).toBe('0')
  expect(await page.isDisabled('[data-do="undo"]')).toBe(true)
  await press(page, 'redo')
  expect(await countOf(page, 'tokenBucket', 'served')).toBe('10')
})

test('a shared address shows the same simulation', async () => {
  const page = await studio.visit(EMPTY)
  await page.fill('#tokenBucket-capacity', '7')
  await page.getByRole('checkbox', { name: 'Leaky bucket, shaping' }).uncheck()
  await press(page, 'burst')
  await press(page, 'advance')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy link to this simulation' }).click()
  const address = await page.evaluate(() => navigator.clipboard.readText())
  const other = await studio.visit(address.slice(address.indexOf('#')))
  expect(await other.inputValue('#tokenBucket-capacity')).toBe('7')
  expect(await countOf(other, 'tokenBucket', 'served')).toBe('7')
  expect(await other.getAttribute('[data-now]', 'data-now')).toBe('5000')
  expect(await other.locator('[data-lane="shaping"]').count()).toBe(0)
})

test('a pasted access log becomes the timeline', async () => {
  const page = await studio.visit(EMPTY)
  const line = (who: string, second: string) => `${who} - - [18/Nov/2026:10:00:${second} +0000] "GET / HTTP/1.1" 200 5`
  await page.click('summary')
  await page.fill(
    '[data-log]',
    [line('203.0.113.7', '00'), line('203.0.113.7', '01'), line('198.51.100.2', '04'), 'nonsense'].join('\n'),
  )
  expect(await page.textContent('[data-log-note]')).toBe('3 requests over 4 s of 2 callers, 1 lines not understood')
  await press(page, 'advance')
  expect(await countOf(page, 'slidingLog', 'served')).toBe('3')
})

test('a dropped log of many addresses keeps each apart, shows all of it, and says what it left out', async () => {
  const page = await studio.visit(EMPTY)
  await page.click('summary')
  // Twelve addresses, one request each two minutes: no limit of ten in ten seconds refuses any.
  const minute = (n: number) => `${String(10 + Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}`
  const line = (n: number) => `203.0.113.${n % 12} - - [18/Nov/2026:${minute(n)}:00 +0000] "GET / HTTP/1.1" 200 5`
  const log = [...Array.from({ length: 240 }, (_, n) => line(n)), ...Array.from({ length: 20_000 }, () => 'nonsense')]
  const file = await page.evaluateHandle(text => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'access.log'))
    return transfer
  }, log.join('\n'))
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: file })
  await page.getByText('240 requests over 3.98 h of 12 callers').waitFor()
  expect(await page.textContent('[data-log-note]')).toContain('240 lines left out: no more than 20000 are read')
  expect(await page.inputValue('[data-view]')).toBe('21600000')
  expect(await page.locator('select.caller option').allTextContents()).toContain('203.0.113.11')
  await page.fill('[aria-label="Milliseconds to advance"]', String(4 * 3_600_000))
  await press(page, 'advance')
  expect([await countOf(page, 'slidingLog', 'served'), await countOf(page, 'slidingLog', 'refused')]).toEqual([
    '240',
    '0',
  ])
  // An address for sharing leaves the log out, and going back takes it away.
  await page.waitForFunction(() => location.hash.includes('now='))
  expect(page.url()).not.toMatch(/[?&]r=/)
  await press(page, 'undo')
  await press(page, 'undo')
  expect(await page.locator('select.caller option').allTextContents()).toEqual(['caller A'])
})

test('every refusal can be gone back to', async () => {
  const page = await studio.visit(EMPTY)
  await press(page, 'burst')
  await press(page, 'advance')
  await press(page, 'burst')
  const lane = page.locator('[data-lane="tokenBucket"]')
  const reason = lane.locator('[data-reason]')
  expect(await reason.textContent()).toMatch(/^Refused at 5 s/)
  expect(await lane.locator('[data-refusal="after"]').isDisabled()).toBe(true)
  while (!(await lane.locator('[data-refusal="before"]').isDisabled()))
    await lane.locator('[data-refusal="before"]').click()
  expect(await reason.textContent()).toBe('Refused at 0 s: 0 tokens left, 1 needed; try again in 1 s.')
})

test('the address bar holds the simulation: a reload shows it again', async () => {
  const page = await studio.visit(EMPTY)
  await page.fill('#slidingLog-limit', '4')
  await press(page, 'burst')
  await page.waitForFunction(() => location.hash.includes('slidingLog'))
  await page.reload()
  expect(await countOf(page, 'slidingLog', 'served')).toBe('4')
})

test('whatever an address says, the page opens', async () => {
  const hash =
    '#/?r=1*99999999999999999999_~999999999_zz.7777&cost=1e11&callers=1e9&spanMs=3&concurrency=on;limit=1e9&now=5000'
  const page = await studio.visit(hash)
  expect(await countOf(page, 'concurrency', 'served')).not.toBe('')
  expect(await page.locator('[data-lane]').count()).toBe(6)
})

test('traffic that is over ends by itself, and play begins it again', async () => {
  const page = await studio.visit(EMPTY)
  await page.click('[data-pattern="storm"]')
  await page.fill('[aria-label="Milliseconds to advance"]', '60000')
  await press(page, 'advance')
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  await press(page, 'play')
  expect(Number(await page.getAttribute('[data-now]', 'data-now'))).toBeLessThan(45_000)
})

test('nothing moves of itself: not while time runs, and not while one types what is wrong', async () => {
  const page = await studio.visit('#/', { reducedMotion: 'no-preference' })
  await page.waitForFunction(() => Number(document.querySelector('[data-now]')?.getAttribute('data-now')) > 1500)
  await page.fill('#tokenBucket-refill', '1')
  await page.waitForSelector('[data-error]:not(:empty)')
  await page.fill('#tokenBucket-refill', '2/s')
  await page.waitForTimeout(300)
  const shift = await page.evaluate(
    () =>
      new Promise<number>(resolve => {
        const observer = new PerformanceObserver(list =>
          resolve(list.getEntries().reduce((sum, entry) => sum + (entry as unknown as { value: number }).value, 0)),
        )
        observer.observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve(0), 200)
      }),
  )
  expect(shift).toBeLessThan(0.001)
})

test('a bad policy is told in the words of the library, and the lane waits for a good one', async () => {
  const page = await studio.visit(EMPTY)
  await page.fill('#tokenBucket-refill', '10/lightyear')
  const lane = page.locator('[data-lane="tokenBucket"]')
  expect(await lane.locator('[data-error]').textContent()).toMatch(
    /^expected .*got '10\/lightyear'.*\(SLUICE_BAD_RATE\)$/,
  )
  expect(await lane.locator('[data-count]').allTextContents()).toEqual(['–', '–', '–', '–', '–'])
  await page.fill('#tokenBucket-refill', '10/s')
  expect(await lane.locator('[data-error]').textContent()).toBe('')
  expect(await countOf(page, 'tokenBucket', 'served')).toBe('0')
})

test('a click on the timeline places a request there', async () => {
  const page = await studio.visit(EMPTY)
  const box = (await page.locator('[data-timeline]').boundingBox())!
  await page.mouse.click(box.x + box.width / 2, box.y + 20)
  for (let n = 0; n < 4; n++) await press(page, 'advance')
  expect(await countOf(page, 'slidingLog', 'served')).toBe('1')
})

test('all of it can be done from the keyboard', async () => {
  const page = await studio.visit(EMPTY)
  await page.keyboard.press('b')
  expect(await countOf(page, 'tokenBucket', 'served')).toBe('10')
  await page.keyboard.press('a')
  expect(await page.getAttribute('[data-now]', 'data-now')).toBe('5000')
  await page.keyboard.press('z')
  await page.keyboard.press('z')
  expect(await countOf(page, 'tokenBucket', 'served')).toBe('0')
  await page.keyboard.press('?')
  expect(await page.locator('dialog.help').isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  expect(await page.locator('dialog.help').count()).toBe(0)
  // Focus is seen wherever it goes.
  for (let n = 0; n < 12; n++) {
    await page.keyboard.press('Tab')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)
    expect(outline).not.toBe('none')
  }
})

describe('on a phone', () => {
  test.each(['#/', '#/scenes', '#/scenes/ten-nodes', '#/choose', '#/try'])('%s fits the width', async hash => {
    const page = await studio.visit(hash, { viewport: { width: 390, height: 844 } })
    await page.waitForSelector('h1')
    const { scroll, width } = await page.evaluate(() => ({
      scroll: document.documentElement.scrollWidth,
      width: document.documentElement.clientWidth,
    }))
    expect(scroll).toBeLessThanOrEqual(width)
  })
})
