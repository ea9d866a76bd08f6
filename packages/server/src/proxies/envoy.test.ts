import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { documented, documentedPath } from '../fixtures/proxies/documented.ts'
import { misfits } from '../fixtures/proxies/envoy-protos.ts'
import { serving } from '../fixtures/proxies/serving.ts'
import { call, clientOf } from '../fixtures/rls/client.ts'

/** One thing that Envoy makes an entry of a descriptor from. */
interface Action {
  readonly remote_address?: object
  readonly request_headers?: { readonly header_name: string; readonly descriptor_key: string }
  readonly generic_key?: { readonly descriptor_value: string }
}

interface Route {
  readonly match: { readonly path?: string }
  readonly route: { readonly rate_limits?: readonly { readonly actions: readonly Action[] }[] }
}

const configuration = parse(documented('envoy.yaml'))
const manager = configuration.static_resources.listeners[0].filter_chains[0].filters[0].typed_config
const routes: readonly Route[] = manager.route_config.virtual_hosts[0].routes

/** The descriptors that Envoy sends for a route; a header that is not there leaves its descriptor out. */
function descriptorsOf(path: string | undefined, ip: string, user?: string) {
  const { rate_limits: limits = [] } = routes.find(({ match }) => match.path === path)!.route
  const entryOf = ({ remote_address, request_headers, generic_key }: Action) => {
    if (remote_address !== undefined) return { key: 'remote_address', value: ip }
    if (generic_key !== undefined) return { key: 'generic_key', value: generic_key.descriptor_value }
    expect(request_headers?.header_name).toBe('x-user')
    return { key: request_headers!.descriptor_key, value: user }
  }
  const descriptors = limits.map(({ actions }) => ({ entries: actions.map(entryOf) }))
  return descriptors.filter(({ entries }) => entries.every(({ value }) => value !== undefined))
}

describe('the configuration of Envoy', () => {
  test('has only fields that Envoy knows', () => {
    expect(misfits(configuration)).toEqual([])
  })

  test.each([
    [
      'listeners',
      'listener',
      '/static_resources/listener: no field of .envoy.config.bootstrap.v3.Bootstrap.StaticResources',
    ],
    ['DRAFT_VERSION_03', 'DRAFT_VERSION_04', 'enable_x_ratelimit_headers: no value of'],
    ['timeout: 0.02s', 'timeout: 20', 'timeout: no .google.protobuf.Duration'],
    ['stat_prefix: edge', 'stat_prefix: 5', 'stat_prefix: no string'],
    ['generic_key', 'general_key', 'general_key: no field of .envoy.config.route.v3.RateLimit.Action'],
  ])('is checked closely: %s in place of %s is found', (from, to, found) => {
    expect(misfits(parse(documented('envoy.yaml', { [from]: to }))).join()).toContain(found)
  })

  test('asks a service that speaks HTTP/2, in the domain of the rules', () => {
    const limiter = manager.http_filters[0].typed_config
    expect(limiter.domain).toBe(parse(documented('envoy-rules.yaml')).domain)
    const { cluster_name } = limiter.rate_limit_service.grpc_service.envoy_grpc
    const cluster = configuration.static_resources.clusters.find(({ name }: { name: string }) => name === cluster_name)
    expect(JSON.stringify(cluster)).toContain('"http2_protocol_options":{}')
    expect(JSON.stringify(cluster)).toContain('"port_value":8081')
  })
})

describe('by the descriptors it sends', () => {
  async function asking() {
    const { ports, clock } = await serving(documented('rules.yaml'), { envoy: documentedPath('envoy-rules.yaml') })
    const client = clientOf({ port: ports.grpc })
    const ask = (path: string | undefined, ip: string, user?: string) =>
      call(client, { domain: 'edge', descriptors: descriptorsOf(path, ip, user) })
    return { ask, clock }
  }

  test('a login is refused the sixth time, until a quarter of an hour has passed', async () => {
    const { ask, clock } = await asking()
    for (let i = 0; i < 5; i++) expect(await ask('/login', '203.0.113.7')).toMatchObject({ overallCode: 1 })
    const refused = {
      overallCode: 2,
      statuses: [{ limitRemaining: 95 }, { durationUntilReset: { seconds: '900' } }],
    }
    expect(await ask('/login', '203.0.113.7')).toMatchObject(refused)
    expect(await ask('/login', '203.0.113.8')).toMatchObject({ overallCode: 1 })
    expect(await ask(undefined, '203.0.113.7')).toMatchObject({ overallCode: 1 })
    clock.advance(900_000)
    expect(await ask('/login', '203.0.113.7')).toMatchObject({ overallCode: 1 })
  })

  test('a user is counted across addresses, and a request without a user by its address', async () => {
    const { ask } = await asking()
    for (let i = 0; i < 20; i++) expect(await ask(undefined, `203.0.113.${i}`, '42')).toMatchObject({ overallCode: 1 })
    expect(await ask(undefined, '203.0.113.99', '42')).toMatchObject({
      overallCode: 2,
      statuses: [{ code: 1 }, { code: 2 }],
    })
    expect(await ask(undefined, '203.0.113.99')).toMatchObject({ overallCode: 1, statuses: [{ limitRemaining: 99 }] })
  })

  test('health is not asked about', () => {
    expect(descriptorsOf('/health', '203.0.113.7', '42')).toEqual([])
  })
})
