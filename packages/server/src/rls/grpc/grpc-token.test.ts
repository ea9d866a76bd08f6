import { Metadata } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { clientOf, REQUEST, told } from '../../fixtures/rls/client.ts'
import { healthService, rateLimitService } from '../../fixtures/rls/protos.ts'
import { started } from '../../fixtures/rls/started.ts'
import { TokenAuthorizer } from '../../http/authorizer.ts'

const authorizer = new TokenAuthorizer({ adminToken: 'an-operator', checkToken: 'a-check-token', hosts: '' })

async function asking(
  authorization: string | undefined,
  method = rateLimitService.ShouldRateLimit!,
  request: object = REQUEST,
) {
  const server = await started(undefined, { opens: given => authorizer.checks(given) })
  const metadata = new Metadata()
  if (authorization !== undefined) metadata.set('authorization', authorization)
  const { path, requestSerialize, responseDeserialize } = method
  return new Promise<object | string>(resolve => {
    clientOf(server).makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, answer) =>
      resolve(error === null ? answer! : told(error)),
    )
  })
}

test.each(['Bearer a-check-token', 'Bearer an-operator'])('a call with %s is answered', async authorization => {
  expect(await asking(authorization)).toMatchObject({ overallCode: 1 })
})

test.each([undefined, 'Bearer another', 'a-check-token', 'Bearer '])(
  'a call with %s is refused',
  async authorization => {
    expect(await asking(authorization)).toMatch(/^UNAUTHENTICATED: expected authorization: Bearer/)
  },
)

test('health checks need no token', async () => {
  expect(await asking(undefined, healthService.Check!, { service: '' })).toMatchObject({ status: 'SERVING' })
})
