import { expect, test } from 'vitest'
import { PromptAnswers } from './prompt-answers.ts'

test('whoever loops on prompt answers lets the event loop go on', async () => {
  const prompt = new PromptAnswers()
  let timers = 0
  const timer = setInterval(() => timers++, 1)
  let answers = 0
  while (timers < 3) {
    await prompt.answer()
    answers++
  }
  clearInterval(timer)
  expect(answers).toBeGreaterThan(1000)
})

test('a thousand answers in one turn are there at once', async () => {
  const prompt = new PromptAnswers()
  let turned = false
  setImmediate(() => {
    turned = true
  })
  for (let n = 0; n < 1000; n++) await prompt.answer()
  expect(turned).toBe(false)
})
