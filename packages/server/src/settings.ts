import { SluiceError } from 'sluice'
import { nearestName } from 'sluice/rules'

/** One setting of the service: a flag of `sluice serve`, an environment variable, and the default. */
interface Setting<T> {
  readonly flag: string
  readonly env: string
  readonly otherwise: T
  readonly read: (text: string) => T | undefined
  readonly expects: string
  readonly meaning: string
}

const upTo = (most: number) => (text: string) =>
  /^\d{1,9}$/.test(text) && Number(text) <= most ? Number(text) : undefined
const port = upTo(65_535)
const text = (value: string) => value
/** Characters that a header can carry unchanged. A token with a space or an umlaut would never match. */
const token = (text: string) => (/^[!-~]+$/.test(text) ? text : undefined)
/** The longest path of a unix socket on all systems; Linux allows four bytes more. */
const LONGEST_SOCKET_PATH = 103
const socketPath = (text: string) =>
  Buffer.byteLength(text) <= LONGEST_SOCKET_PATH && !text.includes('\0') ? text : undefined
const headerName = (text: string) => (/^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text) ? text : undefined)
const hostNames = (text: string) => (/^[\w.-]+(,[\w.-]+)*$/.test(text) ? text : undefined)
const DURATION = /^(\d{1,6})(ms|s|m)$/
const MS = { ms: 1, s: 1000, m: 60_000 }
const duration = (most: number) => (text: string) => (msOf(text) <= most ? text : undefined)
const PORT = 'a port from 0 (a free one) to 65535'
const TOKEN = 'a secret of letters, digits and signs of ASCII'
const MOST_WORKERS = 256
const LONGEST_DRAIN_MS = 600_000
const LOG_FORMATS = ['text', 'json'] as const

/** All settings. A test keeps `docs/reference/settings.md` equal to this table. */
export const SETTINGS = {
  rules: setting('rules', 'SLUICE_RULES', '', text, 'a file', 'A rules file of Sluice: limits by attribute.'),
  envoy: setting('envoy', 'SLUICE_ENVOY', '', text, 'a file or folder', 'Rules of envoyproxy/ratelimit, unchanged.'),
  mergeDomains: setting(
    'merge-domains',
    'SLUICE_MERGE_DOMAINS',
    'off',
    oneOf('off', 'on'),
    'off or on',
    'Allows several files of one domain in the folder of --envoy, and reads them as one.',
  ),
  store: setting(
    'store',
    'SLUICE_STORE',
    '',
    text,
    'memory, redis://… or redis-cluster://…',
    'Where Sluice keeps its counts; wins over the rules file.',
  ),
  host: setting(
    'host',
    'SLUICE_HOST',
    '127.0.0.1',
    text,
    'an address',
    'The address that all ports listen on; 0.0.0.0 accepts connections from other machines.',
  ),
  httpPort: setting(
    'http-port',
    'SLUICE_HTTP_PORT',
    8080,
    port,
    PORT,
    'The port for HTTP: the API, the decision endpoint, the page.',
  ),
  grpcPort: setting(
    'grpc-port',
    'SLUICE_GRPC_PORT',
    8081,
    port,
    PORT,
    "The port for gRPC: Envoy's rate limit service.",
  ),
  respPort: setting('resp-port', 'SLUICE_RESP_PORT', 6380, port, PORT, 'The port for RESP: CL.THROTTLE.'),
  workers: setting(
    'workers',
    'SLUICE_WORKERS',
    1,
    upTo(MOST_WORKERS),
    `a number of processes from 0 to ${MOST_WORKERS}`,
    'How many processes speak the protocols; 0 starts one for each core.',
  ),
  adminToken: setting(
    'admin-token',
    'SLUICE_ADMIN_TOKEN',
    '',
    token,
    TOKEN,
    'The token that operators must send. Without it they can use only the socket; auto makes a token and prints it once.',
  ),
  adminSocket: setting(
    'admin-socket',
    'SLUICE_ADMIN_SOCKET',
    '',
    socketPath,
    `a path of at most ${LONGEST_SOCKET_PATH} bytes`,
    'A unix socket on which operators need no token; only the user who runs the service can open it.',
  ),
  checkToken: setting(
    'check-token',
    'SLUICE_CHECK_TOKEN',
    '',
    token,
    TOKEN,
    'The token that checks must send: over HTTP and gRPC as a bearer token, over RESP by AUTH.',
  ),
  hosts: setting(
    'hosts',
    'SLUICE_HOSTS',
    '',
    hostNames,
    'names of hosts, separated by commas',
    'Host names by which callers on this machine may address the service, beside addresses and localhost.',
  ),
  secret: setting(
    'secret',
    'SLUICE_SECRET',
    '',
    given => (given.length < 16 ? undefined : given),
    'a secret of at least 16 characters',
    'Seals the ids of reservations, so that any replica can settle them.',
  ),
  tlsCert: setting(
    'tls-cert',
    'SLUICE_TLS_CERT',
    '',
    text,
    'a PEM file',
    'The certificate of the gRPC port, and of HTTP with --http-tls. Certificate and key together turn TLS on.',
  ),
  tlsKey: setting('tls-key', 'SLUICE_TLS_KEY', '', text, 'a PEM file', 'The private key of the certificate.'),
  tlsClientCa: setting(
    'tls-client-ca',
    'SLUICE_TLS_CLIENT_CA',
    '',
    text,
    'a PEM file',
    'A certificate authority: ports with TLS then serve only clients that have a certificate from it.',
  ),
  httpTls: setting(
    'http-tls',
    'SLUICE_HTTP_TLS',
    'off',
    oneOf('off', 'on'),
    'off or on',
    'Encrypts HTTP, too, with the same certificate and for the same clients.',
  ),
  counting: setting(
    'counting',
    'SLUICE_COUNTING',
    'together',
    oneOf('together', 'apart'),
    'together or apart',
    'Charges all descriptors of a request or none; or each by itself, as envoyproxy/ratelimit does.',
  ),
  shadow: setting(
    'shadow',
    'SLUICE_SHADOW',
    'off',
    oneOf('off', 'on'),
    'off or on',
    'Always answers OK to Envoy; the statuses of descriptors still say what would have been decided.',
  ),
  responseHeaders: setting(
    'response-headers',
    'SLUICE_RESPONSE_HEADERS',
    'off',
    oneOf('off', 'on'),
    'off or on',
    'Makes Envoy add rate limit headers to its responses: those of the descriptor that refuses, else of the one with the least left.',
  ),
  limitHeader: header('limit-header', 'SLUICE_LIMIT_HEADER', 'RateLimit-Limit', 'how many requests a period allows'),
  remainingHeader: header('remaining-header', 'SLUICE_REMAINING_HEADER', 'RateLimit-Remaining', 'how many are left'),
  resetHeader: header('reset-header', 'SLUICE_RESET_HEADER', 'RateLimit-Reset', 'in how many seconds more become free'),
  envoyStats: setting(
    'envoy-stats',
    'SLUICE_ENVOY_STATS',
    'off',
    oneOf('off', 'on'),
    'off or on',
    'Exports metrics of descriptors under the names of envoyproxy/ratelimit, too.',
  ),
  lameDuck: setting(
    'lame-duck',
    'SLUICE_LAME_DUCK',
    '5s',
    duration(LONGEST_DRAIN_MS),
    'a time from 0s to 10m',
    'How long after SIGTERM the service goes on serving while /readyz says 503; a second signal ends the wait.',
  ),
  log: setting(
    'log',
    'SLUICE_LOG',
    'text',
    oneOf(...LOG_FORMATS),
    LOG_FORMATS.join(' or '),
    'The format of log lines.',
  ),
  drainMs: setting(
    'drain-ms',
    'SLUICE_DRAIN_MS',
    5000,
    upTo(LONGEST_DRAIN_MS),
    `milliseconds from 0 to ${LONGEST_DRAIN_MS}`,
    'How long open requests may take once the service closes its ports.',
  ),
} as const

export type ServiceSettings = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['otherwise'] extends number ? number : string
}
type SettingName = keyof typeof SETTINGS

/** Flags win over the environment, which wins over the defaults. Throws one error with all wrong settings. */
export function readSettings(
  flags: Readonly<Partial<Record<string, string>>>,
  environment: Readonly<Partial<Record<string, string>>>,
): ServiceSettings {
  const wrong: string[] = []
  const read = ([name, one]: [string, Setting<number | string>]) => {
    const [from, given] = one.flag in flags ? [`--${one.flag}`, flags[one.flag]] : [one.env, environment[one.env]]
    if (given === undefined || given === '') return [name, one.otherwise]
    const value = one.read(given)
    if (value === undefined)
      wrong.push(`${from}: expected ${one.expects}, got ${isSecret(name) ? 'something else' : `'${given}'`}`)
    return [name, value]
  }
  const settings = Object.fromEntries(Object.entries<Setting<number | string>>(SETTINGS).map(read)) as ServiceSettings
  if ((settings.tlsCert === '') !== (settings.tlsKey === ''))
    wrong.push('--tls-cert and --tls-key: expected both or neither')
  if (settings.tlsCert === '') {
    if (settings.tlsClientCa !== '') wrong.push('--tls-client-ca: expected --tls-cert and --tls-key beside it')
    if (settings.httpTls === 'on') wrong.push('--http-tls on: expected --tls-cert and --tls-key beside it')
  }
  wrong.push(...unknownVariables(environment))
  if (wrong.length > 0) throw new SluiceError('SLUICE_BAD_OPTION', wrong.join('; '))
  return settings
}

/** The variables that Kubernetes sets for a Service named sluice. */
const SERVICE_LINK = /^SLUICE_(SERVICE_(HOST|PORT.*)|PORT(_.*)?)$/

/** Reports unknown SLUICE_ variables: a misspelt one would silently leave its setting at the default. */
function unknownVariables(environment: Readonly<Partial<Record<string, string>>>): string[] {
  const known: string[] = Object.values(SETTINGS).map(({ env }) => env)
  const given = Object.keys(environment).filter(name => name.startsWith('SLUICE_') && !known.includes(name))
  return given
    .filter(name => !SERVICE_LINK.test(name))
    .map(name => {
      const meant = nearestName(name, known)
      return `${name}: expected a setting, got an unknown name${meant === undefined ? '' : `; write ${meant}`}`
    })
}

/** Milliseconds of a setting such as `5s`; NaN if it is not a duration. */
export function msOf(text: string): number {
  const [, digits, unit] = DURATION.exec(text) ?? []
  return Number(digits) * MS[unit as keyof typeof MS]
}

const SECRETS: readonly string[] = ['adminToken', 'checkToken', 'secret', 'store'] satisfies SettingName[]

/** Whether the value must not be printed. */
function isSecret(name: string): boolean {
  return SECRETS.includes(name)
}

function setting<T extends string | number>(
  flag: string,
  env: string,
  otherwise: T,
  read: (text: string) => T | undefined,
  expects: string,
  meaning: string,
): Setting<T extends number ? number : string> {
  return { flag, env, otherwise, read, expects, meaning } as unknown as Setting<T extends number ? number : string>
}

function header(flag: string, env: string, otherwise: string, what: string): Setting<string> {
  return setting(
    flag,
    env,
    otherwise,
    headerName,
    'the name of a header',
    `With --response-headers, the header that says ${what}.`,
  )
}

function oneOf(...values: readonly string[]): (text: string) => string | undefined {
  return given => values.find(value => value === given)
}
