import { SETTINGS } from '../settings.ts'

const COMMANDS = `sluice serve [rules.yaml]             decide over HTTP, gRPC (Envoy) and RESP (CL.THROTTLE)
sluice check <file or folder>         say everything that is wrong with rules, and what is seldom meant
sluice explain <file> <request>       say which rules match a request, and why
sluice modes [<limit> <mode>]         say the mode of each limit, or set one to enforce, shadow or off
sluice reset <subject>                forget what is counted for a subject
sluice block <subject> --for 15m      refuse a subject for a while

<request> is {"ip":"203.0.113.7","user":"42"}, ip=203.0.113.7 user=42, or for rules of envoyproxy/ratelimit
{"domain":"mongo","descriptors":[{"entries":[{"key":"database","value":"users"}]}]}.`

const OPERATE = `[--${SETTINGS.adminSocket.flag} path]

Asks the service that listens on this unix socket (or on that of ${SETTINGS.adminSocket.env}), as the same user.`

const HELP: Readonly<Record<string, string>> = {
  check: `sluice check <file or folder> [--json] [--replicas n] [--store address] [--merge-domains on]

Reads rules of Sluice, or those of envoyproxy/ratelimit, and says every mistake with its file, line and column.
Warnings have codes and do not fail: lone-fixed-window, address-only-key, login-and-health, memory-with-replicas,
small-sliding-window, metadata-not-sent.
Ends with 0 where the rules can be used, with 1 where they cannot, with 2 where it was called wrongly.`,
  explain: `sluice explain <file> <request> [--json] [--merge-domains on]

Says for every limit whether it applies to the request, and why; nothing is counted.
sluice explain rules.yaml ip=203.0.113.7 route=/search cost=5`,
  modes: `sluice modes [<limit> enforce|shadow|off] [--json] ${OPERATE}
A mode holds until the rules are loaded again.`,
  reset: `sluice reset <subject> [--limit name,name] [--json] ${OPERATE}
Forgets in the limits named, or in all that have a key. A subject is user=42 or {"user":"42"}.`,
  block: `sluice block <subject> --for 15m [--limit name] [--json] ${OPERATE}
Refuses by the limit named, or by the only one. A subject is user=42 or {"user":"42"}.`,
}

/** The text of `--help`, for one command or for all. */
export function helpText(command: string | undefined): string {
  const own = HELP[command ?? '']
  if (own !== undefined) return own
  return `Sluice decides, request by request, who is served and who waits.

${COMMANDS}

Settings of serve, as flags or in the environment:
${settingLines().join('\n')}

sluice --version, sluice <command> --help; --json for machines.`
}

function settingLines(): string[] {
  const rows = Object.values(SETTINGS).map(({ flag, env, otherwise, meaning }) => {
    const standard = otherwise === '' ? '' : ` (${otherwise})`
    return [`  --${flag}`, env, `${meaning}${standard}`] as const
  })
  const widths = [0, 1].map(column => Math.max(...rows.map(row => row[column]!.length)))
  return rows.map(([flag, env, meaning]) => `${flag.padEnd(widths[0]!)}  ${env.padEnd(widths[1]!)}  ${meaning}`)
}
