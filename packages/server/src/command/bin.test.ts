import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const bin = join(root, manifest.bin.sluice)

/** The command in a package of its own, built or not. */
function ran(built: string | undefined): Promise<{ code: number; out: string; err: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'dist'))
  copyFileSync(bin, join(folder, 'bin/sluice.js'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  if (built !== undefined) writeFileSync(join(folder, 'dist/main.js'), built)
  return new Promise(resolve =>
    execFile(process.execPath, [join(folder, 'bin/sluice.js'), 'check', 'a b'], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    ),
  )
}

test('the command is a file that can be run, before anything is built', () => {
  expect(readFileSync(bin, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  expect(statSync(bin).mode & 0o111).toBe(0o111)
  expect(manifest.files).toContain('bin')
})

test('the command runs the built program with its arguments, and returns its exit code', async () => {
  const built = 'console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 2'
  expect(await ran(built)).toEqual({ code: 2, out: '["check","a b"]\n', err: '' })
})

test('before a build the command says what to do', async () => {
  expect(await ran(undefined)).toEqual({
    ...{ code: 1, out: '' },
    err: 'sluice is not built yet: run `npm run build` in the checkout, or `npm start`, which does it\n',
  })
})
