import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { passTime } from '../pass-time.ts'
import { createOutbox, type Mail } from './app.ts'

function outbox() {
  const clock = fakeClock()
  const sent: { mail: Mail; at: number }[] = []
  const pressure: boolean[] = []
  const { send, shutDown } = createOutbox(async mail => void sent.push({ mail, at: clock.now() }), {
    clock,
    onPressure: ({ high }) => pressure.push(high),
  })
  return { clock, sent, pressure, send, shutDown }
}

test('mails start 1/14 s apart, and all of them are sent', async () => {
  const { clock, sent, send } = outbox()
  for (let i = 0; i < 29; i++) void send({ to: `${i}`, kind: 'newsletter' })
  await passTime(clock, 2000, 1)
  expect(sent.map(({ at }) => at)).toEqual(Array.from({ length: 29 }, (_, n) => Math.ceil((n * 1000) / 14)))
})

test('a password reset overtakes the newsletters', async () => {
  const { clock, sent, send } = outbox()
  for (let i = 0; i < 100; i++) void send({ to: `${i}`, kind: 'newsletter' })
  await passTime(clock, 200, 50)
  void send({ to: 'me', kind: 'password-reset' })
  await passTime(clock, 200, 50)
  expect(sent.findIndex(({ mail }) => mail.to === 'me')).toBeLessThan(6)
})

test('too many mails are refused, after a warning, and shutting down sends what waits', async () => {
  const { clock, sent, pressure, send, shutDown } = outbox()
  const results = Array.from({ length: 460 }, (_, i) =>
    send({ to: `${i}`, kind: 'newsletter' }).catch(error => error.code),
  )
  const done = shutDown()
  await passTime(clock, 40_000, 500)
  await done
  const refused = (await Promise.all(results)).filter(code => code === 'SLUICE_BACKLOG_FULL')
  expect([refused.length, sent.length]).toEqual([10, 450])
  expect(pressure).toEqual([true, false])
})
