import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpAnswer } from '../http-answer.ts'

/** Where `npm run build:studio` puts the studio, and where the package carries it. */
const ROOT = fileURLToPath(new URL('../../../studio/', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The page may run only its own scripts and call only its own service. */
const SECURITY = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

const NOT_BUILT: HttpAnswer = {
  status: 503,
  body: 'the studio is not built: run npm run build:studio\n',
  type: 'text/plain; charset=utf-8',
}

let files: Map<string, HttpAnswer> | undefined

/** The studio's file at a path; undefined if there is none. All files are read at the start, so no path reaches the disk. */
export function studioFile(path: string): HttpAnswer | undefined {
  files ??= readAll()
  return files.get(path) ?? (path === '/' ? NOT_BUILT : undefined)
}

function readAll(): Map<string, HttpAnswer> {
  const names = existsSync(ROOT) ? readdirSync(ROOT, { recursive: true, encoding: 'utf8' }) : []
  const known = names.filter(name => TYPES[extname(name)] !== undefined)
  return new Map(known.map(name => [name === 'index.html' ? '/' : `/${name.replaceAll('\\', '/')}`, answerOf(name)]))
}

function answerOf(name: string): HttpAnswer {
  // The names of assets contain a hash of their content.
  const kept = /^assets\b/.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache'
  return {
    status: 200,
    body: readFileSync(`${ROOT}${name}`),
    type: TYPES[extname(name)]!,
    fields: { ...SECURITY, 'Cache-Control': kept },
  }
}
