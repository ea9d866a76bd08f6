import { GRPC_STATUS, isTold, toldOf } from './grpc/grpc-status.ts'
import { requestFromJson } from './json-request.ts'
import { responseToJson } from './json-response.ts'
import { OVER_LIMIT, type RateLimitService } from './service.ts'

export interface JsonAnswer {
  readonly status: 200 | 400 | 429 | 500
  readonly body: string
}

/** Answers `POST /json`, the form for calls by hand, from its text. Never rejects. */
export async function answerJson(
  service: RateLimitService,
  text: string,
  onError: (error: unknown) => void = () => {},
): Promise<JsonAnswer> {
  try {
    const response = await service.shouldRateLimit(requestFromJson(text))
    return { status: response.overall === OVER_LIMIT ? 429 : 200, body: responseToJson(response) }
  } catch (error) {
    if (!isTold(error)) onError(error)
    const { grpc, message } = toldOf(error)
    const body = JSON.stringify({ code: GRPC_STATUS[grpc], message })
    return { status: grpc === 'INVALID_ARGUMENT' ? 400 : 500, body }
  }
}
