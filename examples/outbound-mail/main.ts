import { createOutbox } from './app.ts'

const outbox = createOutbox(async ({ to, kind }) => console.log(kind, 'to', to), {
  onPressure: ({ high, depth }) => console.log(high ? 'slow down:' : 'go on:', depth, 'mails wait'),
})
const mails = Array.from({ length: 50 }, (_, i) => outbox.send({ to: `reader ${i}`, kind: 'newsletter' }))
mails.push(outbox.send({ to: 'somebody in a hurry', kind: 'password-reset' }))
await Promise.all(mails)
await outbox.shutDown()
