import { readFileSync, writeFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { startRedis, until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { printed, serve, sluice } from '../fixtures/process.ts'
import { rulesFile } from '../fixtures/rules-file.ts'

const SLOW = { timeout: 60_000 }
const TEN = 'limits:\n  caller: { key: ip, sliding-window: 10/1h }\n'

function check(port: number, ip: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/check`, { method: 'POST', body: JSON.stringify({ ip }) })
}

/** So many at once, each on a connection of its own: they reach all workers. */
async function allowed(port: number, ip: string, times: number): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: times }, () =>
      fetch(`http://127.0.0.1:${port}/v1/check`, {
        method: 'POST',
        headers: { connection: 'close' },
        body: JSON.stringify({ ip }),
      }).then(({ status }) => status),
    ),
  )
  expect(statuses.filter(status => ![200, 429, 503].includes(status))).toEqual([])
  return statuses.filter(status => status === 200).length
}

/** The processes that a supervisor has started. */
function workersOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

describe('several workers over memory', SLOW, () => {
  test('are one limit, over HTTP and over RESP', async () => {
    const { ports, pid } = await serve([rulesFile(TEN), '--workers', '3'])
    expect(workersOf(pid)).toHaveLength(3)
    expect(await allowed(ports.http, '203.0.113.7', 60)).toBe(10)
    expect(await allowed(ports.http, '203.0.113.7', 10)).toBe(0)

    const clients = Array.from({ length: 6 }, () => new Redis({ port: ports.resp, lazyConnect: true }))
    onTestFinished(() => {
      for (const client of clients) client.disconnect()
    })
    const replies = await Promise.all(
      clients.flatMap(client => Array.from({ length: 5 }, () => client.call('CL.THROTTLE', 'k', '9', '1', '3600'))),
    )
    expect((replies as number[][]).filter(([limited]) => limited === 0)).toHaveLength(10)
  })

  test('a worker that was killed is replaced, and no count is lost', async () => {
    const running = await serve([rulesFile(TEN), '--workers', '2'])
    const { ports, pid } = running
    expect(await allowed(ports.http, 'a', 4)).toBe(4)
    const before = workersOf(pid)
    process.kill(before[0]!, 'SIGKILL')
    await until(
      'another worker',
      async () => {
        const now = workersOf(pid)
        return now.length === 2 && !now.includes(before[0]!)
      },
      { withinMs: 30_000 },
    )
    expect(running.output()).toContain('a worker ended')
    const left = await until('answers', () => allowed(ports.http, 'a', 20), { withinMs: 10_000 })
    expect(left).toBe(6)
  })

  test('count together for Prometheus', async () => {
    const { ports } = await serve([rulesFile(TEN), '--workers', '2'])
    await allowed(ports.http, 'a', 15)
    await until('all requests', async () => {
      const text = await (await fetch(`http://127.0.0.1:${ports.http}/metrics`)).text()
      return (
        text.includes('sluice_requests_total{door="http"} 15\n') &&
        text.includes('sluice_requests_total{door="grpc"} 0')
      )
    })
    const metrics = await (await fetch(`http://127.0.0.1:${ports.http}/metrics`)).text()
    expect(metrics).toContain('ratelimit_decisions_total{policy="caller",decision="allowed",outcome="ok"} 10')
    expect(metrics).toContain('ratelimit_decisions_total{policy="caller",decision="refused",outcome="ok"} 5')
  })

  test('a reservation made through one is settled through another', async () => {
    const { ports } = await serve([rulesFile(TEN), '--workers', '3'])
    const post = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${ports.http}${path}`, {
        method: 'POST',
        headers: { connection: 'close' },
        body: JSON.stringify(body),
      })
    for (let n = 0; n < 6; n++) {
      const { id } = (await (await post('/v1/reserve', { ip: 'b', cost: 8 })).json()) as { id: string }
      expect(await (await post('/v1/settle', { id, actual: 0 })).json()).toMatchObject({ charged: 0 })
    }
    expect(await allowed(ports.http, 'b', 11)).toBe(10)
  })

  test('invalid rules end the service before a door is open', async () => {
    const running = sluice(['serve', rulesFile('limits: {}\n'), '--workers', '2'])
    expect(await running.ended).toBe(1)
    expect(running.output()).toContain('expected at least one limit')
  })
})

test('a worker that cannot open its doors ends the service, and the log says why', SLOW, async () => {
  const first = await serve([rulesFile(TEN)])
  const taken = String(first.ports.http)
  const free = ['--grpc-port', '0', '--resp-port', '0']
  const second = sluice(['serve', rulesFile(TEN), '--workers', '2', '--http-port', taken, ...free])
  expect(await second.ended).toBe(1)
  expect(second.output()).toContain(`port ${taken} is in use`)
  expect(second.output()).not.toContain('    at ')
})

test('several workers over Redis are one limit, and count together', SLOW, async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const store = `redis://127.0.0.1:${redis.port}`
  // On a busy machine an answer of Redis may come too late: then nobody passes who was not counted.
  const rules = rulesFile(TEN.replace('10/1h', '10/1h, on_outage: closed'))
  const { ports } = await serve([rules, '--workers', '2', '--store', store])
  const passed = await allowed(ports.http, 'a', 40)
  expect(passed).toBeGreaterThan(0)
  expect(passed).toBeLessThanOrEqual(10)
  const total = await until('all counts', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${ports.http}/metrics`)).text()
    const counts = [...metrics.matchAll(/^ratelimit_decisions_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
    const sum = counts.reduce((all, one) => all + one, 0)
    return sum === 40 && sum
  })
  expect(total).toBe(40)
})

test('a mode set in one worker over Redis is set in all, and in those that come later', SLOW, async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const rules = rulesFile('limits:\n  caller: { key: ip, sliding-window: 1/1h, on_outage: closed }\n')
  const running = await serve([
    rules,
    '--workers',
    '3',
    '--store',
    `redis://127.0.0.1:${redis.port}`,
    '--admin-token',
    'an-operator',
  ])
  const { ports } = running
  const headers = { authorization: 'Bearer an-operator' }
  const isOff = async () => (await allowed(ports.http, 'a', 30)) === 30
  expect(await isOff()).toBe(false)
  const set = { method: 'POST', headers, body: '{"limit":"caller","mode":"off"}' }
  expect((await fetch(`http://127.0.0.1:${ports.http}/v1/modes`, set)).status).toBe(200)
  await until('all workers have heard of it', isOff)
  for (const worker of workersOf(running.pid).slice(1)) process.kill(worker, 'SIGKILL')
  await printed(running, /has replaced it.*has replaced it/s)
  await until('they have heard of it', isOff, { withinMs: 10_000 })
})

describe.each([
  ['one process', '1'],
  ['workers', '2'],
])('%s', (_, workers) => {
  test('SIGHUP loads the rules again, a bad file keeps the old ones and says why', SLOW, async () => {
    const file = rulesFile(TEN)
    const running = await serve([file, '--workers', workers])
    const { ports } = running
    expect(await allowed(ports.http, 'a', 8)).toBe(8)

    writeFileSync(file, TEN.replace('10/1h', '5/1h'))
    await printed(running, /is now 5 in 1h .*what callers have used is kept/)
    expect(await (await check(ports.http, 'a')).json()).toMatchObject({ allowed: false, limit: 5, remaining: 0 })

    const seen = running.output().length
    writeFileSync(file, 'limits:\n  caller: { key: ip, sliding-windw: 5/1h }\n')
    running.signal('SIGHUP')
    await printed(running, /the old rules stay:\n.*sliding-windw/, seen)
    expect((await check(ports.http, 'b')).status).toBe(200)
    expect(await (await fetch(`http://127.0.0.1:${ports.http}/metrics`)).text()).toMatch(
      /sluice_rules_reloads_total\{result="refused"\} [1-9]/,
    )
  })

  test('SIGTERM ends it with exit code 0, and no process is left', SLOW, async () => {
    const running = await serve([rulesFile(TEN), '--workers', workers])
    const children = workersOf(running.pid)
    expect((await check(running.ports.http, 'a')).status).toBe(200)
    running.signal('SIGTERM')
    expect(await running.ended).toBe(0)
    expect(children.filter(isRunning)).toEqual([])
  })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
