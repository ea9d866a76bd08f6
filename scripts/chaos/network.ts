import { setTimeout as sleep } from 'node:timers/promises'
import { startProxy, startRedis, type TcpProxy } from 'sluice-harness'
import { type Incident, type Stage, scenario } from './scenario.ts'

/** A server behind a network. */
async function behindProxy(fault: (proxy: TcpProxy, incident: Incident) => Promise<void>): Promise<Stage> {
  const server = await startRedis()
  const proxy = await startProxy(server)
  return {
    target: proxy,
    fault: incident => fault(proxy, incident),
    stop: async () => {
      await proxy.stop()
      await server.stop()
    },
  }
}

const slow = (latencyMs: number) => () =>
  behindProxy(async (proxy, { back }) => {
    proxy.latencyMs = latencyMs
    await sleep(1000)
    proxy.latencyMs = 0
    back()
  })

/** Packets are lost for good only when the connection ends: until then TCP sends them again. */
const lost = (drop: TcpProxy['drop']) => () =>
  behindProxy(async (proxy, { back }) => {
    proxy.drop = drop
    await sleep(1000)
    proxy.drop = false
    proxy.reset()
    back()
  })

const cut = (how: (proxy: TcpProxy) => void, times: number) => () =>
  behindProxy(async (proxy, { back }) => {
    for (let i = 0; i < times; i++) {
      if (i > 0) await sleep(400)
      how(proxy)
    }
    back()
  })

const refused = () =>
  behindProxy(async (proxy, { back }) => {
    proxy.refuse = true
    proxy.reset()
    await sleep(300)
    proxy.refuse = false
    back()
  })

const reset = cut(proxy => proxy.reset(), 4)

export const NETWORK = [
  scenario('latency of 10 ms, below the deadline', slow(5), { outage: 'none' }),
  scenario('latency of 40 ms, above the deadline', slow(20)),
  scenario('all is lost for 1 s, then the connection', lost(true)),
  scenario('answers are lost for 1 s, then the connection', lost('down')),
  scenario('connection reset four times', reset),
  // The client tries again at once, and often before a breaker would open.
  scenario('connection reset, through node-redis', reset, { client: 'node-redis', outage: 'brief' }),
  scenario(
    'half-closed by the server',
    cut(proxy => proxy.halfClose('down'), 1),
  ),
  scenario(
    'half-closed towards the server',
    cut(proxy => proxy.halfClose('up'), 1),
  ),
  scenario('connections refused for 300 ms', refused),
]
