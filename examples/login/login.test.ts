import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { onLoopback } from '../on-loopback.ts'
import { createApp } from './app.ts'

const RIGHT = 'a horse, correctly stapled'
const HOME = '203.0.113.7'

async function serve() {
  const clock = fakeClock()
  const url = await onLoopback(createApp({ clock }))
  /** As a proxy on the same machine passes it on. */
  const login = (address: string, password: string, username = 'alice') =>
    fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body: JSON.stringify({ username, password }),
    })
  const guess = async (address: string, times: number, username = 'alice') => {
    const tries = Array.from({ length: times }, (_, i) => login(address, `guess ${i}`, username))
    return (await Promise.all(tries)).filter(({ status }) => status === 401).length
  }
  return { clock, login, guess }
}

test('five guesses from one address reach the password check, however many are sent at once', async () => {
  const { guess } = await serve()
  expect(await guess('198.51.100.1', 50)).toBe(5)
})

test('a refused guess learns nothing, not even whether it was right', async () => {
  const { login, guess } = await serve()
  await guess('198.51.100.1', 6)
  const refused = await login('198.51.100.1', RIGHT)
  expect(refused.status).toBe(429)
  expect(refused.headers.has('ratelimit')).toBe(false)
  expect(await refused.json()).not.toHaveProperty('violated-policies')
})

test('the owner of a name that is being guessed at still logs in', async () => {
  const { login, guess } = await serve()
  expect((await login(HOME, RIGHT)).status).toBe(204)
  let reached = 0
  for (let i = 1; i <= 30; i++) reached += await guess(`198.51.100.${i}`, 5)
  expect(reached).toBe(20)
  expect((await login(HOME, RIGHT)).status).toBe(204)
})

test('case, width and spaces do not make another name to guess at', async () => {
  const { guess } = await serve()
  let reached = 0
  for (const name of ['alice', 'ALICE', ' Alice ', '\uff41lice']) reached += await guess('198.51.100.1', 5, name)
  expect(reached).toBe(5)
})

test('four slips, then the right password: the slips are forgotten', async () => {
  const { login, guess } = await serve()
  for (let day = 1; day <= 3; day++) {
    expect(await guess(HOME, 4)).toBe(4)
    expect((await login(HOME, RIGHT)).status).toBe(204)
  }
})

test('a block passes', async () => {
  const { clock, login, guess } = await serve()
  await guess('198.51.100.1', 6)
  clock.advance(1_000 * Number((await login('198.51.100.1', RIGHT)).headers.get('retry-after')))
  expect((await login('198.51.100.1', RIGHT)).status).toBe(204)
})
