import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadDescriptors, loadRules } from './load.ts'
import { RulesFileError } from './problems.ts'
import { readSources } from './source-files.ts'

const folder = fileURLToPath(new URL('../fixtures/rules/mistakes/', import.meta.url))
const all = readdirSync(folder).filter(name => !name.endsWith('.txt'))

/** What the command would print, with the names of the files as they are in their folder. */
function complaints(name: string): string {
  const sources = readSources(folder + name).map(({ name, text }) => ({ name: basename(name), text }))
  const load = name.startsWith('envoy-') && name !== 'envoy-file.yaml' ? loadDescriptors : loadRules
  try {
    load(sources)
  } catch (error) {
    if (error instanceof RulesFileError) return `${error.message}\n`
    throw error
  }
  return 'nothing\n'
}

test.each(all)('%s is reported with its lines', name => {
  expect(complaints(name)).toBe(readFileSync(`${folder}${name.replace(/\.yaml$/, '')}.txt`, 'utf8'))
})

test('every expected message has its rules file', () => {
  const told = readdirSync(folder).filter(name => name.endsWith('.txt'))
  expect(new Set(told)).toEqual(new Set(all.map(name => `${name.replace(/\.yaml$/, '')}.txt`)))
})
