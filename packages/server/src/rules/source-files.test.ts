import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSources } from './source-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-sources-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

test('a folder gives its YAML files in the order of their names', () => {
  mkdirSync(join(folder, 'many'))
  for (const name of ['b.yaml', 'a.yml', '.hidden.yaml', 'notes.txt', '..data.yaml']) write(`many/${name}`, name)
  expect(readSources(join(folder, 'many'))).toEqual([
    { name: join(folder, 'many/a.yml'), text: 'a.yml' },
    { name: join(folder, 'many/b.yaml'), text: 'b.yaml' },
  ])
})

test('a folder without YAML files is an error', () => {
  mkdirSync(join(folder, 'none'))
  expect(() => readSources(join(folder, 'none'))).toThrow(/none: expected at least one \.yaml file in the folder/)
})

test('a missing file is an error', () => {
  expect(() => readSources(join(folder, 'gone.yaml'))).toThrow(
    /gone\.yaml: expected a file that can be read, got ENOENT/,
  )
})

test('a file that is not text is an error', () => {
  const path = write('latin1.yaml', Buffer.from([0x6e, 0xe4, 0x68]))
  expect(() => readSources(path)).toThrow(/latin1\.yaml: expected text in UTF-8/)
})

test('a file that is too large is not read', () => {
  const path = write('large.yaml', '')
  truncateSync(path, 16 * 1024 * 1024 + 1)
  expect(() => readSources(path)).toThrow(/large\.yaml: expected at most 16777216 bytes, got 16777217/)
})
