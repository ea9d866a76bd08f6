import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { run } from './run.mjs'

const STAMP = 'node_modules/.sluice-stamp'
const INSTALLED = 'node_modules/.package-lock.json'

/** The fields of a package.json that decide what is installed. Editing other fields must not cost a reinstall. */
const FIELDS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies', 'bin', 'workspaces']

const readJson = path => JSON.parse(readFileSync(path, 'utf8'))

function workspaceDirs(patterns) {
  return patterns
    .flatMap(pattern => {
      if (!pattern.endsWith('/*')) return [pattern]
      const parent = pattern.slice(0, -2)
      return existsSync(parent) ? readdirSync(parent).map(name => `${parent}/${name}`) : []
    })
    .filter(dir => existsSync(`${dir}/package.json`))
}

/** Directory (`''` for the root) → the fields that matter, in one order whatever the file's own. */
function wantedByManifests() {
  const dirs = ['', ...workspaceDirs(readJson('package.json').workspaces).sort()]
  return new Map(dirs.map(dir => [dir, relevant(readJson(dir === '' ? 'package.json' : `${dir}/package.json`))]))
}

function relevant(manifest) {
  const sorted = (_, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return JSON.stringify(Object.fromEntries(FIELDS.map(field => [field, manifest?.[field]])), sorted)
}

function fingerprint(manifests) {
  const hash = createHash('sha256').update(readFileSync('package-lock.json'))
  for (const [dir, fields] of manifests) hash.update(`\0${dir}\0${fields}`)
  return hash.digest('hex')
}

function lockAgrees(manifests) {
  const locked = readJson('package-lock.json').packages
  return [...manifests].every(([dir, fields]) => dir in locked && relevant(locked[dir]) === fields)
}

/** True if node_modules holds what the lock asks for. Then nothing is installed: `npm ci` would delete files that running programs use. */
function alreadyInstalled() {
  if (!existsSync(INSTALLED)) return false
  const locked = readJson('package-lock.json').packages
  const installed = readJson(INSTALLED).packages
  const same = (a, b) => a?.version === b?.version && a?.integrity === b?.integrity
  return (
    Object.entries(installed).every(([path, entry]) => path in locked && same(entry, locked[path])) &&
    Object.entries(locked).every(
      // Optional packages are often for other platforms.
      ([path, entry]) => path === '' || entry.optional || same(entry, installed[path]),
    )
  )
}

async function install() {
  console.log('  installing dependencies')
  const quiet = ['--include=dev', '--no-audit', '--no-fund']
  try {
    await run('npm', ['ci', ...quiet])
  } catch (error) {
    // A registry without the packages of every platform leaves a lock without them, and `npm ci` refuses such a lock.
    // `npm install --no-save` takes the same versions and leaves the lock as it is.
    if (!error.message.includes('EUSAGE')) throw error
    await run('npm', ['install', '--no-save', ...quiet])
  }
}

export async function ensureDependencies() {
  const manifests = wantedByManifests()
  const wanted = fingerprint(manifests)
  if (existsSync(INSTALLED) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted)
    return { note: 'up to date' }
  if (!lockAgrees(manifests)) {
    throw new Error('package.json and package-lock.json disagree: run `npm install` and commit both')
  }
  const present = alreadyInstalled()
  if (!present) await install()
  writeFileSync(STAMP, wanted)
  return { note: present ? 'up to date' : 'installed' }
}
