import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { run as sluice } from '../packages/server/src/fixtures/command/run.ts'
import { serve } from '../packages/server/src/fixtures/process.ts'
import { SETTINGS } from '../packages/server/src/settings.ts'
import { ROOT, run } from './consumers/pack.ts'

const SLOW_MS = 300_000
const dockerfile = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')
const manifest = readFileSync(join(ROOT, 'deploy/kubernetes.yaml'), 'utf8')
const variables = new Map<string, (typeof SETTINGS)[keyof typeof SETTINGS]>(
  Object.values(SETTINGS).map(setting => [setting.env, setting]),
)

let folder: string
beforeAll(() => {
  mkdirSync(join(ROOT, 'node_modules/.docs'), { recursive: true })
  folder = mkdtempSync(join(ROOT, 'node_modules/.docs/deploy-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('the Dockerfile', () => {
  const stages = dockerfile.split(/^(?=FROM )/m).slice(1)
  const last = stages.at(-1)!

  test('a linter finds nothing', () => {
    expect(validate(dockerfile).map(({ message }) => message)).toEqual([])
  })

  test('copies what is there', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(\S+) /gm)].map(([, path]) => path!)
    expect(copied.length).toBeGreaterThan(0)
    expect(copied.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('builds in stages of its own, and the last runs nothing as root', () => {
    expect(stages.length).toBeGreaterThan(1)
    const lines = last.split('\n').map(line => line.split(' ')[0])
    expect(lines).not.toContain('RUN')
    expect(lines.indexOf('USER')).toBeLessThan(lines.indexOf('ENTRYPOINT'))
    expect(/^USER (\S+)$/m.exec(last)?.[1]).toBe('node')
  })

  test('starts the command of the package, with settings that there are', () => {
    const { bin } = JSON.parse(readFileSync(join(ROOT, 'packages/server/package.json'), 'utf8'))
    const [program, script] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(last)![1]!)
    expect([program, script]).toEqual(['node', `/sluice/node_modules/sluice-server/${bin.sluice}`])
    const set = [...last.matchAll(/\b(SLUICE_\w+)=/g)].map(([, name]) => name!)
    expect(set).toContain('SLUICE_HOST')
    expect(set.filter(name => !variables.has(name))).toEqual([])
    const doors = [SETTINGS.httpPort, SETTINGS.grpcPort, SETTINGS.respPort].map(({ otherwise }) => otherwise)
    expect(/^EXPOSE (.*)$/m.exec(last)![1]!.split(' ').map(Number)).toEqual(doors)
  })

  test('is healthy while the service is ready', { timeout: SLOW_MS }, async () => {
    const [program, ...args] = JSON.parse(/^HEALTHCHECK[^[]*CMD (\[.*\])$/m.exec(last)![1]!) as string[]
    expect(program).toBe('node')
    const health = (port: number) => {
      const env = { ...process.env, SLUICE_HTTP_PORT: String(port) }
      return run(process.execPath, args, folder, env).then(
        () => 'healthy',
        () => 'unhealthy',
      )
    }
    const { ports } = await serve([])
    expect(await health(ports.http)).toBe('healthy')
    const closing = createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1')
    await new Promise(resolve => closing.once('listening', resolve))
    expect(await health((closing.address() as AddressInfo).port)).toBe('unhealthy')
    await new Promise(resolve => closing.close(resolve))
  })
})

/** The members of a manifest that tests read. The compiler compares the whole with Kubernetes' own types. */
interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: the types of Kubernetes are told apart by the compiler below.
  readonly [member: string]: any
}

describe('the manifest for Kubernetes', () => {
  const documents = parseAllDocuments(manifest)
  const resources = documents.map(document => document.toJS() as Resource)
  const of = (kind: string) => resources.find(resource => resource.kind === kind)!
  const deployment = of('Deployment').spec
  const pod = deployment.template.spec
  const [container] = pod.containers

  test('is YAML without mistakes', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(resources.map(({ kind }) => kind).sort()).toEqual(
      ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Secret', 'Service'].sort(),
    )
  })

  /** Writes a literal, so that the compiler also rejects members that Kubernetes does not know. */
  test("agrees with Kubernetes' types, member by member", { timeout: SLOW_MS }, async () => {
    const typed = resources.map(({ apiVersion, kind, ...rest }, n) => {
      const path = apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`
      const literal = JSON.stringify({ apiVersion, kind, ...rest })
      return `import type { ${kind} as K${n} } from 'kubernetes-types/${path}.d.ts'\nexport const r${n}: K${n} = ${literal}\n`
    })
    writeFileSync(join(folder, 'manifest.mts'), typed.join(''))
    writeFileSync(
      join(folder, 'wrong.mts'),
      `import type { Probe } from 'kubernetes-types/core/v1.d.ts'
       // @ts-expect-error: no such member
       export const probe: Probe = { periodSecond: 1 }\n`,
    )
    const compilerOptions = { module: 'nodenext', strict: true, noEmit: true, types: [], skipLibCheck: true }
    const options = { ...compilerOptions, allowImportingTsExtensions: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.mts'] }))
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], folder)
  })

  test('its parts find each other', () => {
    const labels = deployment.template.metadata.labels
    for (const selector of [deployment.selector.matchLabels, of('Service').spec.selector])
      expect(labels).toMatchObject(selector)
    expect(of('PodDisruptionBudget').spec.selector.matchLabels).toEqual(deployment.selector.matchLabels)
    const secrets = container.env.flatMap((one: Resource) => one.valueFrom?.secretKeyRef ?? [])
    expect(secrets.length).toBeGreaterThan(0)
    for (const { name, key } of secrets) {
      expect([name, Object.keys(of('Secret').stringData)]).toEqual([
        of('Secret').metadata.name,
        expect.arrayContaining([key]),
      ])
    }
    expect(pod.volumes[0].configMap.name).toBe(of('ConfigMap').metadata.name)
    const ports = container.ports.map(({ name, containerPort }: Resource) => [name, containerPort, name])
    expect(of('Service').spec.ports.map(({ name, port, targetPort }: Resource) => [name, port, targetPort])).toEqual(
      ports,
    )
    expect(ports.map(([, port]: number[]) => port)).toEqual(
      [SETTINGS.httpPort, SETTINGS.grpcPort, SETTINGS.respPort].map(({ otherwise }) => otherwise),
    )
  })

  test('its settings are there, and read', () => {
    for (const { name, value } of container.env) {
      const setting = variables.get(name)
      expect(setting, name).toBeDefined()
      if (value !== undefined) expect(setting!.read(value), name).toBeDefined()
    }
    const file = container.env.find(({ name }: Resource) => name === 'SLUICE_RULES').value
    const [{ mountPath, name }] = container.volumeMounts
    expect(Object.keys(of('ConfigMap').data).map(key => `${mountPath}/${key}`)).toEqual([file])
    expect(pod.volumes[0].name).toBe(name)
    // Variables that Kubernetes makes for a Service named sluice begin with SLUICE_, too.
    expect(pod.enableServiceLinks).toBe(false)
  })

  test('its rules can be used by as many replicas, and nothing about them is odd', async () => {
    const rules = join(folder, 'rules.yaml')
    writeFileSync(rules, of('ConfigMap').data['rules.yaml'])
    const { store } = of('Secret').stringData
    const { code, out, err } = await sluice('check', rules, '--replicas', String(deployment.replicas), '--store', store)
    expect([code, out.split('\n').length, err]).toEqual([0, 2, ''])
  })

  test('its probes are answered', { timeout: SLOW_MS }, async () => {
    const { ports } = await serve([])
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { path, port } = container[probe].httpGet
      expect(port).toBe('http')
      expect((await fetch(`http://127.0.0.1:${ports.http}${path}`)).status, probe).toBe(200)
    }
    expect(container.readinessProbe.httpGet.path).toBe('/readyz')
  })

  test('what leaves may finish: the grace period is longer than all that comes before the end', () => {
    const settingOf = (variable: string) => container.env.find(({ name }: Resource) => name === variable).value
    const lameDuckSeconds = Number(/^(\d+)s$/.exec(settingOf('SLUICE_LAME_DUCK'))![1])
    const drainSeconds = settingOf('SLUICE_DRAIN_MS') / 1000
    const leavesSeconds = container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold
    expect(lameDuckSeconds).toBeGreaterThan(leavesSeconds)
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(lameDuckSeconds + drainSeconds)
    expect(deployment.strategy.rollingUpdate.maxUnavailable).toBe(0)
  })

  test('it may do no more than it needs, and writes nothing', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(container.resources.limits.memory).toBeDefined()
  })

  test('its image is of this version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'packages/server/package.json'), 'utf8'))
    expect(container.image).toBe(`sluice:${version}`)
  })
})
