// Builds both packages, and adds the other files of their tarballs.
import { copyFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { run } from './run.mjs'

export async function build() {
  await run('node_modules/.bin/tsc', ['-b'])
  await Promise.all([
    // The package is of type `module`. This folder is for `require`.
    writeFile('packages/sluice/dist/cjs/package.json', '{ "type": "commonjs" }\n'),
    // Error messages point at it.
    copyFile('docs/reference/errors.md', 'packages/sluice/errors.md'),
    copyFile('LICENSE', 'packages/sluice/LICENSE'),
    copyFile('LICENSE', 'packages/server/LICENSE'),
  ])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  await build()
}
