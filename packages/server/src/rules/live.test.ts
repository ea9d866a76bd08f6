import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from 'sluice'
import { rulesLimiter } from 'sluice/rules'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ruleChanges } from './changes.ts'
import { descriptorChanges } from './descriptor-changes.ts'
import { LiveRules, type LiveRulesOptions, type Reload } from './live.ts'
import { loadDescriptors, loadRules } from './load.ts'

const perHour = (limit: number) => `limits:\n  user: { key: user, fixed-window: ${limit}/1h }\n`

let folder: string
let path: string
const open: { close(): void }[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-live-'))
  path = join(folder, 'rules.yaml')
})
afterEach(() => {
  for (const one of open.splice(0)) one.close()
  rmSync(folder, { recursive: true })
})

/** Live rules, and each of their reloads as it comes. */
function live<R>(options: Omit<LiveRulesOptions<R>, 'settleMs' | 'onReload'>) {
  const come: Reload[] = []
  let wake = () => {}
  const rules = new LiveRules({
    ...options,
    settleMs: 5,
    onReload(reload) {
      come.push(reload)
      wake()
    },
  })
  open.push(rules)
  const next = async (): Promise<Reload> => {
    if (come.length === 0) await new Promise<void>(resolve => (wake = resolve))
    return come.shift()!
  }
  return { rules, next, come }
}

const ours = () => live({ path, load: loadRules, changes: ruleChanges })
const limitOf = (rules: LiveRules<ReturnType<typeof loadRules>>) => rules.current.rules.limits[0]!.policy
const kept = (from: number, to: number) =>
  `limit 'user' was ${from} in 1h (fixed window), is now ${to} in 1h (fixed window): what callers have used is kept`

describe('a file', () => {
  test('that is written again is loaded, and the log says what changed', async () => {
    writeFileSync(path, perHour(100))
    const { rules, next } = ours()
    writeFileSync(path, perHour(50))
    expect(await next()).toEqual({ loaded: true, changes: [kept(100, 50)] })
    expect(limitOf(rules)).toMatchObject({ limit: 50 })
    writeFileSync(path, perHour(60))
    expect(await next()).toEqual({ loaded: true, changes: [kept(50, 60)] })
    expect(rules.counts).toEqual({ loaded: 3, refused: 0 })
  })

  test('that is replaced by another, as editors do it, is loaded', async () => {
    writeFileSync(path, perHour(100))
    const { next } = ours()
    for (const [from, to] of [
      [100, 50],
      [50, 60],
    ] as const) {
      writeFileSync(join(folder, '.rules.yaml.swp'), perHour(to))
      renameSync(join(folder, '.rules.yaml.swp'), path)
      expect(await next()).toEqual({ loaded: true, changes: [kept(from, to)] })
    }
  })

  test('that is bad keeps the old rules, reports all errors, and is counted once', async () => {
    writeFileSync(path, perHour(100))
    const { rules, next, come } = ours()
    writeFileSync(path, 'limits:\n  user: { kee: user, fixed-window: lots }\n')
    expect(await next()).toMatchObject({
      loaded: false,
      problems: [
        { file: path, line: 2, column: 11, code: 'SLUICE_BAD_OPTION' },
        { file: path, line: 2, column: 36, code: 'SLUICE_BAD_RATE' },
      ],
    })
    expect(limitOf(rules)).toMatchObject({ limit: 100 })
    writeFileSync(path, perHour(50))
    expect(await next()).toMatchObject({ loaded: true })
    expect(rules.counts).toEqual({ loaded: 2, refused: 1 })
    expect(come).toEqual([])
  })

  test('that is gone keeps the old rules until it is back', async () => {
    writeFileSync(path, perHour(100))
    const { rules, next } = ours()
    unlinkSync(path)
    expect(await next()).toMatchObject({
      loaded: false,
      problems: [{ line: 0, message: expect.stringContaining('ENOENT') }],
    })
    expect(limitOf(rules)).toMatchObject({ limit: 100 })
    writeFileSync(path, perHour(50))
    expect(await next()).toMatchObject({ loaded: true })
  })

  test('that is missing at the start throws', () => {
    expect(ours).toThrow(/ENOENT/)
    writeFileSync(path, 'limits: {}')
    expect(ours).toThrow(/rules\.yaml:1:1: limits: expected at least one limit/)
  })

  test('beside others that change is left alone', async () => {
    writeFileSync(path, perHour(100))
    const { rules, next } = ours()
    writeFileSync(join(folder, 'other.yaml'), 'x')
    writeFileSync(path, perHour(100))
    writeFileSync(path, perHour(50))
    await next()
    expect(rules.counts.loaded).toBe(2)
  })

  test('behind a link is followed when it is written and when the link is turned', async () => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')]
    for (const place of [a, b]) mkdirSync(place)
    writeFileSync(join(a, 'real.yaml'), perHour(100))
    writeFileSync(join(b, 'real.yaml'), perHour(60))
    symlinkSync(join(a, 'real.yaml'), path)
    const { next } = ours()
    writeFileSync(join(a, 'real.yaml'), perHour(50))
    expect(await next()).toEqual({ loaded: true, changes: [kept(100, 50)] })
    symlinkSync(join(b, 'real.yaml'), `${path}.new`)
    renameSync(`${path}.new`, path)
    expect(await next()).toEqual({ loaded: true, changes: [kept(50, 60)] })
    writeFileSync(join(b, 'real.yaml'), perHour(70))
    expect(await next()).toEqual({ loaded: true, changes: [kept(60, 70)] })
  })
})

describe('a ConfigMap of Kubernetes', () => {
  /** As the kubelet does it: a new folder, then a new link in the place of `..data`, then the old folder goes. */
  function publish(version: number, text: string): void {
    const data = `..2026_${version}`
    mkdirSync(join(folder, data))
    writeFileSync(join(folder, data, 'rules.yaml'), text)
    symlinkSync(data, join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    rmSync(join(folder, `..2026_${version - 1}`), { recursive: true, force: true })
  }

  test('is loaded at every swap', async () => {
    publish(1, perHour(100))
    symlinkSync('..data/rules.yaml', path)
    const { next } = ours()
    for (let version = 2; version <= 4; version++) {
      publish(version, perHour(100 + version))
      expect(await next()).toMatchObject({ loaded: true })
    }
  })

  test('as a folder too', async () => {
    const edge = (limit: number) =>
      `domain: edge\ndescriptors:\n  - key: k\n    rate_limit: { unit: hour, requests_per_unit: ${limit} }\n`
    publish(1, edge(100))
    symlinkSync('..data/rules.yaml', path)
    const { next } = live({ path: folder, load: loadDescriptors, changes: descriptorChanges })
    for (let version = 2; version <= 3; version++) {
      publish(version, edge(100 + version))
      expect(await next()).toMatchObject({
        loaded: true,
        changes: [expect.stringContaining(`is now ${100 + version}`)],
      })
    }
    writeFileSync(join(folder, 'more.yaml'), 'domain: more\ndescriptors: [{ kee: j }]')
    expect(await next()).toMatchObject({ loaded: false, problems: [{ file: join(folder, 'more.yaml'), line: 2 }, {}] })
    writeFileSync(join(folder, 'more.yaml'), 'domain: more\ndescriptors: [{ key: j }]')
    expect(await next()).toMatchObject({ loaded: true, changes: [] })
  })
})

describe('reload', () => {
  test('reads at once, whether anything changed or not', () => {
    writeFileSync(path, perHour(100))
    const { rules, come } = ours()
    expect(rules.reload()).toEqual({ loaded: true, changes: [] })
    writeFileSync(path, perHour(50))
    expect(rules.reload()).toEqual({ loaded: true, changes: [kept(100, 50)] })
    writeFileSync(path, '}')
    expect(rules.reload()).toMatchObject({ loaded: false, problems: [{ file: path, line: 1 }] })
    expect(rules.counts).toEqual({ loaded: 3, refused: 1 })
    expect(come).toHaveLength(3)
  })

  test('keeps the old rules whatever goes wrong with the new', () => {
    writeFileSync(path, perHour(100))
    let works = true
    const { rules } = live({
      path,
      load(sources) {
        if (!works) throw new Error('no room')
        return sources.length
      },
      changes: () => [],
    })
    works = false
    expect(rules.reload()).toMatchObject({ loaded: false, problems: [{ file: path, message: 'Error: no room' }] })
    expect(rules.current).toBe(1)
  })

  test('keeps the old rules if the new ones cannot be applied', () => {
    writeFileSync(path, perHour(100))
    const told: boolean[] = []
    const rules = new LiveRules({
      path,
      load: loadRules,
      changes: ruleChanges,
      onReload({ loaded }) {
        told.push(loaded)
        if (loaded) throw new Error('no room')
      },
    })
    open.push(rules)
    writeFileSync(path, perHour(50))
    expect(rules.reload()).toMatchObject({ loaded: false, problems: [{ message: 'Error: no room' }] })
    expect(limitOf(rules)).toMatchObject({ limit: 100 })
    expect(rules.counts).toEqual({ loaded: 1, refused: 1 })
    expect(told).toEqual([true, false])
  })

  test('80 of 100 used and the limit now 50: none remain', () => {
    writeFileSync(path, perHour(100))
    const store = memoryStore()
    const { rules } = live({
      path,
      load(sources) {
        const loaded = loadRules(sources)
        return { ...loaded, ...rulesLimiter(loaded.parsed, { store }) }
      },
      changes: ruleChanges,
    })
    rules.current.limiter.consume({ user: '42' }, { cost: 80 })
    writeFileSync(path, perHour(50))
    rules.reload()
    expect(rules.current.limiter.peek({ user: '42' })).toMatchObject({ limit: 50, remaining: 0 })
  })
})
