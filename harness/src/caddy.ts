import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWebServer, type WebServer } from './web-server.ts'

/** Starts Caddy with a Caddyfile for its port. Caddy writes only into a temporary folder. */
export function startCaddy(site: (port: number) => string): Promise<WebServer> {
  return startWebServer((dir, port, socket) => {
    const [own, file] = [join(dir, 'site.Caddyfile'), join(dir, 'Caddyfile')]
    writeFileSync(own, site(port))
    writeFileSync(file, around(dir, socket, own))
    const home = ['HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'].map(name => `${name}=${dir}`)
    // `env` becomes the program, under the same pid.
    return ['env', ...home, 'caddy', 'run', '--config', file, '--adapter', 'caddyfile']
  })
}

function around(dir: string, socket: string, site: string): string {
  return `
{
	admin off
	auto_https off
	default_bind 127.0.0.1
	storage file_system ${dir}
}
http://ready.localhost {
	bind unix/${socket}
	respond 204
}
import ${site}
`
}
