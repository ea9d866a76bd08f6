import { SETTINGS } from '../settings.ts'

const COMMANDS = `sluice serve [rules.yaml]             answer checks over HTTP, gRPC (Envoy) and RESP (CL.THROTTLE)
sluice check <file or folder>         list every mistake in rules, and warn about likely ones
sluice explain <file> <request>       show which rules match a request, and why
sluice modes [<limit> <mode>]         show the mode of each limit, or set one to enforce, shadow or off
sluice reset <subject>                clear the counts of a subject
sluice block <subject> --for 15m      refuse all requests of a subject for a while

<request> is JSON or words: {"ip":"203.0.113.7","user":"42"} or ip=203.0.113.7 user=42. For rules of envoyproxy/ratelimit it is
{"domain":"mongo","descriptors":[{"entries":[{"key":"database","value":"users"}]}]}.`

const OPERATE = `[--${SETTINGS.adminSocket.flag} path]

Asks the service that listens on this unix socket (or on that of ${SETTINGS.adminSocket.env}). Run it as the user who runs the service.`

const HELP: Readonly<Record<string, string>> = {
  check: `sluice check <file or folder> [--json] [--replicas n] [--store address] [--merge-domains on]

Reads rules of Sluice or of envoyproxy/ratelimit, and prints every mistake with its file, line and column.
Warnings do not make the check fail. Their codes are lone-fixed-window, address-only-key, login-and-health, memory-with-replicas,
small-sliding-window, metadata-not-sent.
Exits with 0 if the rules can be used, with 1 if they cannot, with 2 if the command was called wrongly.`,
  explain: `sluice explain <file> <request> [--json] [--merge-domains on]

Prints for every limit whether it applies to the request, and why. It counts nothing. An example:
sluice explain rules.yaml ip=203.0.113.7 route=/search cost=5`,
  modes: `sluice modes [<limit> enforce|shadow|off] [--json] ${OPERATE}
A mode holds until the service loads its rules again.`,
  reset: `sluice reset <subject> [--limit name,name] [--json] ${OPERATE}
Clears the counts in the limits that --limit names, or in all limits that have a key. A subject is user=42 or {"user":"42"}.`,
  block: `sluice block <subject> --for 15m [--limit name] [--json] ${OPERATE}
The limit that --limit names refuses the subject. You can leave --limit out if there is only one limit. A subject is user=42 or {"user":"42"}.`,
}

/** The text of `--help`, for one command or for all. */
export function helpText(command: string | undefined): string {
  const own = HELP[command ?? '']
  if (own !== undefined) return own
  return `Sluice decides, request by request, who is served and who waits.

${COMMANDS}

Settings of serve, as flags or as environment variables:
${settingLines().join('\n')}

Further: sluice --version; sluice <command> --help; --json prints JSON, except for serve.`
}

function settingLines(): string[] {
  const rows = Object.values(SETTINGS).map(({ flag, env, otherwise, meaning }) => {
    const standard = otherwise === '' ? '' : ` (${otherwise})`
    return [`  --${flag}`, env, `${meaning}${standard}`] as const
  })
  const widths = [0, 1].map(column => Math.max(...rows.map(row => row[column]!.length)))
  return rows.map(([flag, env, meaning]) => `${flag.padEnd(widths[0]!)}  ${env.padEnd(widths[1]!)}  ${meaning}`)
}
