import { readFileSync } from 'node:fs'

/** One static file: send requests, see decisions. */
export const PAGE: Buffer = readFileSync(new URL('../../page.html', import.meta.url))
