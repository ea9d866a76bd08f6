import { gunzipSync } from 'node:zlib'
import { JoinedChunks } from '../../net/joined-chunks.ts'
import { GrpcError } from './grpc-status.ts'

const PREFIX_BYTES = 5

export const ENCODINGS = ['identity', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Collects the one message of a request from its chunks. It never holds more than the largest message. */
export class IncomingMessage {
  private readonly encoding: Encoding
  private readonly maxBytes: number
  private readonly body = new JoinedChunks()

  constructor(encoding: Encoding, maxBytes: number) {
    this.encoding = encoding
    this.maxBytes = maxBytes
  }

  take(chunk: Buffer): void {
    if (this.body.size + chunk.length > this.maxBytes + PREFIX_BYTES) throw this.tooLarge()
    this.body.add(chunk)
  }

  /** The message, once all chunks have arrived. */
  read(): Buffer {
    const body = this.body.whole
    if (body.length === 0) throw new GrpcError('UNIMPLEMENTED', 'expected one message, got none')
    if (body.length < PREFIX_BYTES) throw new GrpcError('INTERNAL', 'the request ends within the prefix of its message')
    const length = body.readUInt32BE(1)
    if (length > this.maxBytes) throw this.tooLarge()
    const rest = body.length - PREFIX_BYTES - length
    if (rest < 0) throw new GrpcError('INTERNAL', `the request ends ${-rest} bytes before its message`)
    if (rest > 0) throw new GrpcError('UNIMPLEMENTED', 'expected one message, got more')
    const flag = body[0]!
    const message = body.subarray(PREFIX_BYTES)
    if (flag === 0) return message
    if (flag !== 1) throw new GrpcError('INTERNAL', `expected 0 or 1 as the flag of a message, got ${flag}`)
    return this.inflate(message)
  }

  private inflate(message: Buffer): Buffer {
    if (this.encoding === 'identity') throw new GrpcError('INTERNAL', 'got a compressed message without its encoding')
    try {
      return gunzipSync(message, { maxOutputLength: this.maxBytes })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw this.tooLarge()
      throw new GrpcError('INTERNAL', 'got a message that is not valid gzip')
    }
  }

  private tooLarge(): GrpcError {
    return new GrpcError('RESOURCE_EXHAUSTED', `expected a message of at most ${this.maxBytes} bytes`)
  }
}
