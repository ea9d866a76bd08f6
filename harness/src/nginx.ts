import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWebServer, type WebServer } from './web-server.ts'

/**
 * Starts nginx with what would stand in its conf.d, for the port that it gets. All that it writes goes into a folder of
 * its own; `files` stand beside, text by name. One process, under the user that runs it: with a master and workers, ending
 * one by force would leave the others.
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
