import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWebServer, type WebServer } from './web-server.ts'

/**
 * Starts nginx. `site` returns the configuration that would be in conf.d, for the given port. nginx writes only into a
 * folder of its own, which also holds `files` (text by name). It is one process: killing a master would
 * leave its workers behind.
 */
export function startNginx(
  site: (port: number) => string,
  files: Readonly<Record<string, string>> = {},
): Promise<WebServer> {
  return startWebServer((dir, port, socket) => {
    writeFileSync(join(dir, 'site.conf'), site(port))
    writeFileSync(join(dir, 'nginx.conf'), around(socket))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
    return ['nginx', '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr']
  })
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

function around(socket: string): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${TEMPORARY.map(name => `${name}_temp_path ${name};`).join(' ')}
  server { listen unix:${socket}; return 204; }
  include site.conf;
}
`
}
