import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run.mjs'

/** Programs the tests and benchmarks start themselves. */
export const SYSTEM_PARTS = [
  { command: 'redis-server', apt: 'redis-server', neededBy: 'the Redis store tests' },
  { command: 'redis-sentinel', apt: 'redis-sentinel', neededBy: 'the failover tests' },
  { command: 'faketime', apt: 'faketime', neededBy: 'the tests of a server whose clock is set' },
  { command: 'redis-cli', apt: 'redis-tools', neededBy: 'whoever looks into a server of the tests' },
  { command: 'nginx', apt: 'nginx', neededBy: 'the tests of proxies' },
  { command: 'caddy', apt: 'caddy', neededBy: 'the tests of proxies' },
  { command: 'chromium', apt: 'chromium', neededBy: 'the tests of the studio' },
  { command: 'redis-benchmark', apt: 'redis-tools', neededBy: 'the Redis benchmarks' },
]

function onPath(command) {
  return (process.env.PATH ?? '').split(delimiter).some(dir => {
    try {
      accessSync(join(dir, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export async function ensureSystemParts(parts = SYSTEM_PARTS) {
  const missing = parts.filter(part => !onPath(part.command))
  if (missing.length === 0) return { note: parts.length === 0 ? 'none needed' : 'all present' }

  const packages = [...new Set(missing.map(part => part.apt))]
  const wanted = missing.map(part => `${part.command} (needed by ${part.neededBy})`).join(', ')
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    throw new Error(`Missing: ${wanted}. Install it, for example with: sudo apt-get install ${packages.join(' ')}`)
  }
  console.log(`  installing ${packages.join(', ')} (apt-get)`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update'], { env })
  await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env })

  const still = missing.filter(part => !onPath(part.command))
  if (still.length > 0)
    throw new Error(`Installed ${packages.join(', ')}, but ${still[0].command} is still not on the PATH`)
  return { note: `installed ${packages.join(', ')}` }
}
