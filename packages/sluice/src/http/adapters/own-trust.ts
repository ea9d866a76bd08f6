/** The warning if the framework is set to believe forwarding headers and the guard is not. */
export function ownTrust(setting: string, isSet: unknown): string | undefined {
  return isSet
    ? `${setting} is set, which the guard does not read, so all clients behind a proxy are one; set trustProxy of rateLimit() to the addresses of your proxies or to their number`
    : undefined
}
