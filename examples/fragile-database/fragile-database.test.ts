import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { passTime } from '../pass-time.ts'
import { gentleWriter } from './app.ts'

/** A database whose writes take 50 ms and which breaks for good at the third at once. */
function fragile() {
  const clock = fakeClock()
  const written: unknown[] = []
  let atOnce = 0
  let isBroken = false
  const write = (row: unknown) =>
    new Promise<void>((resolve, reject) => {
      isBroken ||= ++atOnce > 2
      if (isBroken) return reject(new Error('broken'))
      clock.after(50, () => {
        atOnce--
        written.push(row)
        resolve()
      })
    })
  return { clock, written, write }
}

test('200 writes at once break the database by themselves, and not behind the writer', async () => {
  const plain = fragile()
  const outcomes = Array.from({ length: 200 }, (_, id) => plain.write({ id }))
  expect((await Promise.allSettled(outcomes.slice(2))).every(({ status }) => status === 'rejected')).toBe(true)

  const { clock, written, write } = fragile()
  const gentle = gentleWriter(write, clock)
  const rows = Array.from({ length: 200 }, (_, id) => gentle({ id }))
  await passTime(clock, 12_000, 25)
  await Promise.all(rows)
  expect(written.length).toBe(200)
})

test('a row that would be too old is refused at once', async () => {
  const { clock, write } = fragile()
  const gentle = gentleWriter(write, clock)
  const outcomes = Array.from({ length: 600 }, (_, id) => gentle({ id }).catch(error => error.code))
  await passTime(clock, 15_000, 25)
  const refused = (await Promise.all(outcomes)).filter(code => code === 'SLUICE_WAIT_TOO_LONG')
  expect(refused.length).toBeGreaterThan(100)
})
