const { createLimiter, SluiceError } = require('sluice')
const { fakeClock } = require('sluice/testing')

test('a limiter decides by a clock that the test moves', () => {
  const clock = fakeClock()
  const limiter = createLimiter('1/s', { clock })
  expect([limiter.consume('a').allowed, limiter.consume('a').allowed]).toEqual([true, false])
  clock.advance(2000)
  expect(limiter.consume('a').allowed).toBe(true)
  expect(() => limiter.consume('a', { cost: -1 })).toThrow(SluiceError)
})

test.each(['redis', 'rules', 'http', 'express', 'fastify', 'hono', 'koa', 'fetch', 'node', 'client'])(
  'sluice/%s can be required',
  name => {
    expect(Object.keys(require(`sluice/${name}`))).not.toEqual([])
  },
)
