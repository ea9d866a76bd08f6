/**
 * The hash tag of a key. Keys with the same first part share it and so are in one slot of a cluster: (user) and (user,
 * route) are decided in one call.
 *
 * FNV-1a over the code units, mixed once more at the end. Every process must compute the same tag, so there is no
 * secret. None is needed: with so few tags, keys with the same tag are easy to find under any hash.
 */
export function tagOf(key: string, tags: number): number {
  const text = firstPart(key)
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) % tags
}

/** An encoded key starts with a mark and the length of its first part, `\0 4:user 6:/route`. */
function firstPart(key: string): string {
  if (key.charCodeAt(0) !== 0) return key
  const colon = key.indexOf(':')
  const length = Number(key.slice(1, colon))
  // A plain key that starts with the mark has it twice.
  return key.charCodeAt(1) === 0 || !Number.isInteger(length) ? key.slice(1) : key.slice(colon + 1, colon + 1 + length)
}
