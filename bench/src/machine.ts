import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import type { Suite } from './bench-case.ts'
import type { Settings } from './harness.ts'

/** The circumstances of a figure: when, on which machine, with which versions, for how long. */
export function circumstances(
  { rounds, sliceMs }: Settings,
  { packages, usesRedis }: Pick<Suite, 'packages' | 'usesRedis'>,
): string {
  const cpu = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown CPU'}`
  const machine = `${cpu}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release()} ${arch()}`
  const versions = [
    `Node ${process.versions.node}`,
    ...(usesRedis === true ? [`redis-server ${redisVersion()}`] : []),
    ...packages.map(name => `${name} ${versionOf(name)}`),
  ]
  return [new Date().toISOString().slice(0, 10), machine, versions.join(', '), lengthOf(rounds, sliceMs)].join('; ')
}

function lengthOf(rounds: number, sliceMs: number): string {
  if (rounds > 1) return `${rounds} rounds of about ${sliceMs} ms each`
  return sliceMs < 1000 ? 'measured once' : `measured once for ${sliceMs / 1000} s`
}

function redisVersion(): string {
  return /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))?.[1] ?? 'unknown'
}

/** The version of a package as it is installed here. */
export function versionOf(packageName: string): string {
  const require = createRequire(import.meta.url)
  // Many packages do not export their package.json, so search for it in the folder of the package.
  for (let folder = dirname(require.resolve(packageName)); ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>
      if (name === packageName) return version!
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    if (folder === dirname(folder)) throw new Error(`no package.json above '${packageName}'`)
  }
}
