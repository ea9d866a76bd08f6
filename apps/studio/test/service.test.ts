import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { launch } from './fixtures/browser.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The service as a process of its own, and the address it prints. */
async function served(...rules: readonly string[]): Promise<string> {
  const sources = ['--import', 'tsx', '--conditions=@sluice/source', 'packages/server/src/main.ts']
  const ports = ['--http-port', '0', '--grpc-port', '0', '--resp-port', '0']
  const child = spawn(process.execPath, [...sources, 'serve', ...rules, '--admin-token', 'auto', ...ports], {
    cwd: ROOT,
    env: { ...process.env, TSX_TSCONFIG_PATH: `${ROOT}tsconfig.base.json` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  })
  let printed = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => {
        printed += text
        const [address] = /http:\/\/127\.0\.0\.1:\d+\S*#token=\S+/.exec(printed) ?? []
        if (address !== undefined) resolve(address)
      })
    }
    child.once('exit', () => reject(new Error(`it ended before it served:\n${printed}`)))
  })
}

test('from the address that the service prints, Try sends requests, explains and resets', async () => {
  const address = await served()
  const browser = await launch()
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  const faults: string[] = []
  page.on('pageerror', error => faults.push(error.message))
  page.on(
    'console',
    message => message.type() === 'error' && !message.text().includes('429') && faults.push(message.text()),
  )
  await page.goto(address)
  expect(page.url()).not.toContain('token')
  await page.click('nav >> text=Try')
  expect(await page.textContent('[data-host]')).toBe(new URL(address).host)
  const rule = (name: string) => page.locator(`[data-rule="${name}"]`)
  await rule('per-ip').getByText('60 in 1m (sliding window)').waitFor()
  await rule('search').getByText('5 of 5 left').waitFor()
  const notes = page.locator('[data-notes]')
  await page.click('[data-send="10"]')
  await notes.getByText('5 of 10 served').waitFor()
  await notes.getByText('refused by search').waitFor()
  await rule('search').getByText('0 of 5 left').waitFor()
  await page.locator('[data-rule="search"].refuses').getByText('refuses for 0.').waitFor()
  // Time gives back, and the page shows it without being asked.
  await rule('search').getByText('1 of 5 left').waitFor()
  await page.click('[data-reset]')
  await notes.getByText('forgotten').waitFor()
  await rule('search').getByText('5 of 5 left').waitFor()
  await page.fill('input[name="route"]', '')
  await rule('search').getByText('does not apply: it counts by user and route, and there is no route').waitFor()
  expect(faults).toEqual([])
})

test('Try starts with the attributes that the rules of the service read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'rules.yaml')
  writeFileSync(
    file,
    `limits:
  team: { key: team, plans: { by: tier, gold: { token-bucket: { capacity: 3, refill: 1/h } } } }
  words: { key: user, when: { route: '/chat/*' }, cost: words, sliding-log: 100/1h }
`,
  )
  const address = await served(file)
  const browser = await launch()
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  await page.goto(address)
  await page.click('nav >> text=Try')
  const rule = (name: string) => page.locator(`[data-rule="${name}"]`)
  await rule('team').getByText('3 of 3 left').waitFor()
  await rule('words').getByText('100 of 100 left').waitFor()
  const fields = await page
    .locator('form input[name]')
    .evaluateAll(inputs => inputs.map(input => [input.getAttribute('name'), (input as HTMLInputElement).value]))
  expect(fields).toEqual([
    ['team', 'some team'],
    ['tier', 'gold'],
    ['user', '42'],
    ['route', '/chat/'],
    ['words', '1'],
    ['cost', '1'],
  ])
  await page.click('[data-send="10"]')
  await page.locator('[data-notes]').getByText('refused by team').waitFor()
})
