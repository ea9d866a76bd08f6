import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { onLoopback } from '../on-loopback.ts'
import { createApp } from './app.ts'
import { type Ask, type Model, parrot } from './model.ts'

/** 5 tokens by the rule of thumb, and an answer of 4. */
const PROMPT = 'one two three four..'

async function serve(model: Model = parrot) {
  let hungUp = () => {}
  const closed = new Promise<void>(resolve => {
    hungUp = resolve
  })
  const app = createApp(model, { clock: fakeClock() })
  const url = await onLoopback((request, response) => {
    response.once('close', hungUp)
    app(request, response)
  })
  const chat = (ask: object, signal: AbortSignal | null = null) =>
    fetch(`${url}/chat`, {
      method: 'POST',
      headers: { Authorization: 'Bearer key-of-fay', 'Content-Type': 'application/json' },
      body: JSON.stringify(ask),
      signal,
    })
  return { chat, closed }
}

/** A model that says one token, and the rest when it is told to. */
function slowModel() {
  let goOn = () => {}
  const told = new Promise<void>(resolve => {
    goOn = resolve
  })
  async function* model(ask: Ask) {
    for await (const said of parrot(ask)) {
      yield said
      await told
    }
  }
  return { model, goOn }
}

test('an answer is charged what it used, not what was set aside for it', async () => {
  const { chat } = await serve()
  const first = await chat({ prompt: PROMPT, maxTokens: 4000 })
  expect(first.headers.get('ratelimit')).toBe('"tokens";r=5995;t=1, "streams";r=1')
  expect(await first.text()).toBe('data: one\n\ndata: two\n\ndata: three\n\ndata: four..\n\n')

  const second = await chat({ prompt: PROMPT, maxTokens: 4000 })
  expect(second.headers.get('ratelimit')).toBe('"tokens";r=5986;t=1, "streams";r=1')
})

test('what is set aside for an answer under way cannot be spent by another', async () => {
  const { model, goOn } = slowModel()
  const { chat } = await serve(model)
  const first = await chat({ prompt: PROMPT, maxTokens: 9000 })
  const refused = await chat({ prompt: PROMPT, maxTokens: 4000 })
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ 'violated-policies': ['tokens'] })

  goOn()
  await first.text()
  expect((await chat({ prompt: PROMPT, maxTokens: 4000 })).status).toBe(200)
})

test('nobody has three answers under way', async () => {
  const { model, goOn } = slowModel()
  const { chat } = await serve(model)
  const [first] = [await chat({ prompt: PROMPT, maxTokens: 10 }), await chat({ prompt: PROMPT, maxTokens: 10 })]
  const refused = await chat({ prompt: PROMPT, maxTokens: 10 })
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ 'violated-policies': ['streams'] })

  goOn()
  await first.text()
  expect((await chat({ prompt: PROMPT, maxTokens: 10 })).status).toBe(200)
})

test('who hangs up pays what was used until then, and gets the slot back', async () => {
  const { model, goOn } = slowModel()
  const { chat, closed } = await serve(model)
  const leaving = new AbortController()
  await chat({ prompt: PROMPT, maxTokens: 4000 }, leaving.signal)
  leaving.abort()
  await closed
  goOn()
  const next = await chat({ prompt: PROMPT, maxTokens: 1000 })
  expect(next.headers.get('ratelimit')).toBe('"tokens";r=8989;t=1, "streams";r=1')
})

test('an ask that could never pass is told so', async () => {
  const { chat } = await serve()
  const refused = await chat({ prompt: PROMPT, maxTokens: 1_000_000 })
  expect(refused.status).toBe(429)
  expect(refused.headers.has('retry-after')).toBe(false)
})

test.each([
  ['no prompt', { maxTokens: 10 }],
  ['no number', { prompt: PROMPT, maxTokens: 'many' }],
  ['a negative number', { prompt: PROMPT, maxTokens: -1000 }],
  ['a fraction', { prompt: PROMPT, maxTokens: 0.5 }],
])('an ask with %s is a 400 and charged nothing', async (_, ask) => {
  const { chat } = await serve()
  expect((await chat(ask)).status).toBe(400)
  const next = await chat({ prompt: PROMPT, maxTokens: 995 })
  expect(next.headers.get('ratelimit')).toBe('"tokens";r=9000;t=1, "streams";r=1')
})
