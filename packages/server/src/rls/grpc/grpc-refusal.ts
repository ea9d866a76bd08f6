import { constants, type ServerHttp2Stream } from 'node:http2'
import { ENCODINGS } from './grpc-message.ts'
import { GRPC_STATUS, type GrpcError, headerText } from './grpc-status.ts'

const HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': ENCODINGS.join(','),
}

/** An answer that is an error and nothing else. The rest of a request that is not complete is not waited for. */
export function refuse(stream: ServerHttp2Stream, error: GrpcError, isComplete: boolean): void {
  stream.respond({ ...HEADERS, ...trailersOf(error) }, { endStream: true })
  if (!isComplete) stream.close(constants.NGHTTP2_NO_ERROR)
}

export function trailersOf({ grpc, message }: GrpcError) {
  return { 'grpc-status': GRPC_STATUS[grpc], 'grpc-message': headerText(message) }
}
