import { readFileSync } from 'node:fs'
import { createSecureContext, type Server } from 'node:tls'
import { FileWatch } from '../rules/file-watch.ts'

/** PEM files. With `ca`, only clients with a certificate of that authority are served. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca?: Buffer
}

/** Waits before reading, since a certificate and its key are two files and the second may not be written yet. */
const SETTLE_MS = 100

/** A certificate that is reloaded when its files change. Throws if the first cannot be used; later a bad one is ignored. */
export class Certificates {
  current: Certificate
  private readonly files: CertificateFiles
  private readonly onReload: (error: unknown) => void
  private readonly watches: readonly FileWatch[]
  private readonly servers = new Set<Pick<Server, 'setSecureContext'>>()
  private settling: NodeJS.Timeout | undefined

  /** Calls `onReload` after each reload, with the error or undefined. */
  constructor(files: CertificateFiles, onReload: (error: unknown) => void) {
    this.files = files
    this.onReload = onReload
    this.current = read(files)
    this.watches = Object.values(files).map(path => new FileWatch(path, () => this.settle()))
  }

  /** Keeps the certificate of this server up to date. Open connections stay as they are. */
  follow(server: Pick<Server, 'setSecureContext'>): void {
    this.servers.add(server)
  }

  /** Reads the files now: for SIGHUP. */
  reload(): void {
    for (const watch of this.watches) watch.renew()
    try {
      const next = read(this.files)
      const hasChanged = Object.entries(next).some(
        ([name, bytes]) => !this.current[name as keyof Certificate]!.equals(bytes),
      )
      if (!hasChanged) return
      for (const server of this.servers) server.setSecureContext(next)
      this.current = next
    } catch (error) {
      this.onReload(error)
      return
    }
    this.onReload(undefined)
  }

  close(): void {
    clearTimeout(this.settling)
    for (const watch of this.watches) watch.close()
  }

  private settle(): void {
    clearTimeout(this.settling)
    this.settling = setTimeout(() => this.reload(), SETTLE_MS)
    this.settling.unref()
  }
}

/** Throws if the files do not fit together as a certificate. */
function read({ cert, key, ca }: CertificateFiles): Certificate {
  const made = {
    cert: readFileSync(cert),
    key: readFileSync(key),
    ...(ca !== undefined && { ca: readFileSync(ca) }),
  }
  createSecureContext(made)
  return made
}
