import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The files that a build of both packages reads. */
const SOURCES = [
  ...['packages/sluice', 'packages/server', 'apps/studio', 'docs/reference/errors.md', 'LICENSE'],
  ...['package.json', 'tsconfig.base.json', 'tsconfig.json', 'scripts/build.mjs', 'scripts/run.mjs'],
]
const NOT_COPIED = /\/(node_modules|dist|studio\/test|LICENSE|errors\.md)$/

/** Runs a command and returns its output. If it fails, the error has the output. */
export async function run(command: string, args: readonly string[], cwd: string, env = process.env): Promise<string> {
  const options = { cwd, env, maxBuffer: 2 ** 26 }
  return promisify(execFile)(command, args, options).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => {
      throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
    },
  )
}

export interface Packed {
  readonly tarball: string
  readonly files: readonly string[]
}

/** Runs `npm run pack` on a copy of the sources, so that another build in the checkout does not disturb it. */
export async function pack(work: string): Promise<Record<'sluice' | 'sluice-server', Packed>> {
  const copy = join(work, 'checkout')
  for (const path of SOURCES) {
    const filter = (from: string) => from === join(ROOT, path) || !NOT_COPIED.test(from)
    await cp(join(ROOT, path), join(copy, path), { recursive: true, filter })
  }
  const own = { sluice: 'packages/sluice', 'sluice-server': 'packages/server' }
  await linkModules(join(copy, 'node_modules'), own, copy)
  await run('npm', ['run', '--silent', 'build'], copy)
  await run('npm', ['run', '--silent', 'build:studio'], copy)
  const packed = Object.entries(own).map(async ([name, folder]) => {
    const json = await run('npm', ['pack', '--json', '--offline', '--pack-destination', work], join(copy, folder))
    const [{ filename, files }] = JSON.parse(json) as [{ filename: string; files: { path: string }[] }]
    return [name, { tarball: join(work, filename), files: files.map(file => file.path) }]
  })
  return Object.fromEntries(await Promise.all(packed)) as Record<keyof typeof own, Packed>
}

/** Makes a `node_modules` with all installed packages, and with `own` in place of the workspaces. */
export async function linkModules(folder: string, own: Record<string, string>, base: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const installed = (await readdir(join(ROOT, 'node_modules'))).filter(name => !name.startsWith('sluice'))
  await Promise.all(installed.map(name => symlink(join(ROOT, 'node_modules', name), join(folder, name))))
  await Promise.all(Object.entries(own).map(([name, path]) => symlink(join(base, path), join(folder, name))))
}

/** Unpacks a tarball to the place where npm would. */
export async function unpack({ tarball }: Packed, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], folder)
}
