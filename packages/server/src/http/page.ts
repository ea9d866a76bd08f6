import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Answer } from './exchange.ts'

const html = readFileSync(new URL('../../page.html', import.meta.url), 'utf8')

/** One static file: send requests, see decisions. It runs its own script, asks its own service, and nothing else. */
export const PAGE: Answer = {
  status: 200,
  body: html,
  type: 'text/html; charset=utf-8',
  fields: {
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src ${hashOf('script')}`,
      `style-src ${hashOf('style')}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
  },
}

/** Of what stands in the element, by which a browser knows it again. */
function hashOf(element: string): string {
  const [, text = ''] = new RegExp(`<${element}[^>]*>(.*?)</${element}>`, 's').exec(html) ?? []
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
