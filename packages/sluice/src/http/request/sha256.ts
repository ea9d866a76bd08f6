/**
 * SHA-256 (FIPS 180-4). The store must not hold API keys in clear, and the platform's own SHA-256 returns a promise.
 * `http/sha256.test.ts` compares it with Node's.
 */
export function sha256(text: string): Uint8Array {
  const message = new TextEncoder().encode(text)
  const padded = new Uint8Array(((message.length + 8) >>> 6) * 64 + 64)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29))
  view.setUint32(padded.length - 4, message.length << 3)
  const state = START.slice()
  for (let block = 0; block < padded.length; block += 64) mix(state, view, block)
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, i) => {
    digest.setUint32(i * 4, word)
  })
  return new Uint8Array(digest.buffer)
}

/** The first 160 bits, in hex. */
export function hashOf(text: string): string {
  return Array.from(sha256(text).subarray(0, 20), byte => byte.toString(16).padStart(2, '0')).join('')
}

const schedule = new Int32Array(64)

function mix(state: Int32Array, view: DataView, block: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(block + i * 4)
  for (let i = 16; i < 64; i++) {
    const [before15, before2] = [schedule[i - 15]!, schedule[i - 2]!]
    const small0 = turn(before15, 7) ^ turn(before15, 18) ^ (before15 >>> 3)
    const small1 = turn(before2, 17) ^ turn(before2, 19) ^ (before2 >>> 10)
    schedule[i] = schedule[i - 16]! + small0 + schedule[i - 7]! + small1
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < 64; i++) {
    const big1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const first = (h + big1 + ((e & f) ^ (~e & g)) + ROUND[i]! + schedule[i]!) | 0
    const big0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
    const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  const mixed = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < 8; i++) state[i] = state[i]! + mixed[i]!
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** The first 32 bits of the fractional parts of the cube roots (rounds) and square roots (start) of the first primes. */
const PRIMES = firstPrimes(64)
const ROUND = Int32Array.from(PRIMES, prime => fraction(prime, 3n))
const START = Int32Array.from(PRIMES.slice(0, 8), prime => fraction(prime, 2n))

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every(prime => n % prime !== 0)) primes.push(n)
  return primes
}

/** Computed exactly: the low 32 bits of the integer root of prime × 2^(32 × degree) are the fractional part. */
function fraction(prime: number, degree: bigint): number {
  const target = BigInt(prime) << (32n * degree)
  let low = 0n
  let high = 1n << 40n
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (middle ** degree <= target) low = middle
    else high = middle
  }
  return Number(BigInt.asIntN(32, low))
}
