import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MAY_IMPORT } from './boundaries.ts'

const root = new URL('..', import.meta.url).pathname
const LIBRARY = 'packages/sluice/src/'
const read = (path: string) => readFileSync(root + path, 'utf8')
const page = read('docs/architecture.md')
const contributing = read('CONTRIBUTING.md')

function pagesBelow(folder: string): string[] {
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map(path => `${folder}/${path}`)
}

/** The rows below the table head that starts with these words, as cells. */
function rowsUnder(text: string, head: string): string[][] {
  return text
    .split(`| ${head}`)
    .slice(1)
    .flatMap(part => {
      const lines = part.split('\n').slice(2)
      const end = lines.findIndex(line => !line.startsWith('|'))
      return lines.slice(0, end).map(line => line.split('|').map(cell => cell.trim().replaceAll('`', '')))
    })
    .map(cells => cells.slice(1, -1))
}

test('every room has its row, and no other', () => {
  const rooms = rowsUnder(page, 'room |').map(([room]) => room)
  expect(rooms.toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted())
})

test('a room is told in two sentences at the most', () => {
  for (const [room, told = ''] of rowsUnder(page, 'room |')) {
    expect(told.split(/[.?!](?:\s|$)/).filter(Boolean).length, room).toBeLessThanOrEqual(2)
  }
})

const breakpoints = rowsUnder(page, 'file | function').map(([file, name]) => [file!, name!] as const)

describe('a breakpoint', () => {
  test('is there for each part of the line', () => expect(breakpoints.length).toBeGreaterThan(12))

  test.each(breakpoints)('in %s, function %s, can be set', (file, name) => {
    const declared = new RegExp(`^(export )?( {2}((async|get) )?|(async )?function )${name}\\b[<(]`, 'm')
    expect(declared.test(read(LIBRARY + file))).toBe(true)
  })
})

test('every room in the picture is in the table of rooms', () => {
  const [, picture = ''] = /```mermaid\n(.*?)```/s.exec(page) ?? []
  const named = [...picture.matchAll(/\["([a-z/]+)/g)].map(([, room]) => room!)
  expect(named.length).toBeGreaterThan(6)
  expect(named.filter(room => !(room in MAY_IMPORT))).toEqual([])
})

test('every file that a page names is there', () => {
  const pages = [...readdirSync(root), ...pagesBelow('docs'), 'packages/sluice/README.md', 'packages/server/README.md']
  const named = pages
    .filter(path => path.endsWith('.md'))
    .flatMap(path => [...read(path).matchAll(/`(\w[\w./-]*\/[\w.-]+\.(?:tsx?|mjs|lua|md|json|ya?ml))`/g)])
    .map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(40)
  // `algorithms/x.ts` stands for a file that somebody adds.
  const real = named.filter(path => !/\/x\.(test\.)?ts$/.test(path))
  expect(real.filter(path => !['', LIBRARY].some(base => existsSync(root + base + path)))).toEqual([])
})

test('the table of CONTRIBUTING is that of boundaries.ts', () => {
  const shown = (grant: string) => grant.replace(/^type (.*)$/, 'types of $1')
  const rows = rowsUnder(contributing, 'room | may import')
  expect(Object.fromEntries(rows.map(([room, grants = '']) => [room, grants.split(', ').filter(Boolean)]))).toEqual(
    Object.fromEntries(Object.entries(MAY_IMPORT).map(([room, grants]) => [room, grants.map(shown)])),
  )
})

test('every folder in the tree of CONTRIBUTING is there', () => {
  const [, tree = ''] = /## The tree\n+```\n(.*?)```/s.exec(contributing) ?? []
  const folders = tree.split('\n').flatMap(line => {
    const [, indent = '', names = ''] = /^( *)((?:[\w./-]+\/ ?)+)/.exec(line) ?? []
    const base = indent === '' ? '' : LIBRARY
    return names
      .trim()
      .split(' ')
      .filter(name => name !== '')
      .map(name => base + name)
  })
  expect(folders.length).toBeGreaterThan(12)
  expect(folders.filter(folder => !existsSync(root + folder))).toEqual([])
})
