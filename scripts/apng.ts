import { writeFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Joins PNG files of one size into an animated one. Their data is taken as it is: nothing is decoded. */
export async function animated(pictures: readonly Buffer[], frameMs: number, path: string): Promise<void> {
  const chunks = pictures.map(chunksOf)
  const header = chunks[0]!.find(({ type }) => type === 'IHDR')!.data
  const parts = [SIGNATURE, chunk('IHDR', header), chunk('acTL', numbers(pictures.length, 0))]
  let sequence = 0
  for (const [n, picture] of chunks.entries()) {
    const own = picture.find(({ type }) => type === 'IHDR')!.data
    if (!own.equals(header)) throw new Error(`expected pictures of one size and kind, got another at ${n}`)
    const timing = Buffer.alloc(6)
    timing.writeUInt16BE(frameMs, 0)
    timing.writeUInt16BE(1000, 2)
    parts.push(chunk('fcTL', Buffer.concat([numbers(sequence++), header.subarray(0, 8), numbers(0, 0), timing])))
    for (const { type, data } of picture) {
      if (type !== 'IDAT') continue
      parts.push(n === 0 ? chunk('IDAT', data) : chunk('fdAT', Buffer.concat([numbers(sequence++), data])))
    }
  }
  await writeFile(path, Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]))
}

function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  const found: { type: string; data: Buffer }[] = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    found.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += 12 + length
  }
  return found
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([numbers(data.length), body, numbers(crc32(body))])
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [n, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, n * 4)
  return bytes
}
