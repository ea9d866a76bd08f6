import { spawn } from 'node:child_process'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ROOT } from './pack.ts'

/** A registry with these tarballs and the installed packages, so that npm can install without a network. */
export async function serveRegistry(tarballs: Record<string, { tarball: string; manifest: string }>) {
  const installed = (name: string) => join(ROOT, 'node_modules', name)
  const server = createServer((request, response) => {
    const [, name, file] = /^\/((?:@[^/]+\/)?[^/]+)(\/-\/package\.tgz)?$/.exec(decodeURIComponent(request.url!)) ?? []
    if (name === undefined || !(name in tarballs || existsSync(installed(name))))
      return void response.writeHead(404).end()
    const own = tarballs[name]
    if (file !== undefined) return own ? createReadStream(own.tarball).pipe(response) : tarOf(installed(name), response)
    const manifest = JSON.parse(readFileSync(own?.manifest ?? join(installed(name), 'package.json'), 'utf8'))
    const tarball = `${address()}${name}/-/package.tgz`
    const versions = { [manifest.version]: { ...manifest, dist: { tarball } } }
    response.end(JSON.stringify({ name, 'dist-tags': { latest: manifest.version }, versions }))
  })
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { address: address(), close: () => new Promise(resolve => server.close(resolve)) }
}

function tarOf(folder: string, response: ServerResponse): void {
  const args = ['-cz', '--exclude=./node_modules', '--transform=s,^\\.,package,', '-C', folder, '.']
  spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response)
}
