import { constants, type ServerHttp2Stream } from 'node:http2'
import { ENCODINGS } from './grpc-message.ts'
import { GRPC_STATUS, type GrpcError, headerText } from './grpc-status.ts'

const HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': ENCODINGS.join(','),
}

/** Answers with an error only, and does not wait for the rest of an incomplete request. */
export function refuse(stream: ServerHttp2Stream, error: GrpcError, isComplete: boolean): void {
  stream.respond({ ...HEADERS, ...trailersOf(error) }, { endStream: true })
  if (!isComplete) stream.close(constants.NGHTTP2_NO_ERROR)
}

export function trailersOf({ grpc, message }: GrpcError) {
  return { 'grpc-status': GRPC_STATUS[grpc], 'grpc-message': headerText(message) }
}
