import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { ResponseQueue } from '../net/response-queue.ts'
import type { HttpAnswer } from './http-answer.ts'
import { reply } from './queued-answer.ts'

/** A server that notes when it reads and when it answers. */
async function opened(answerTo: (path: string) => HttpAnswer) {
  const notes: string[] = []
  const errors: unknown[] = []
  const queue = new ResponseQueue(error => errors.push(error))
  const server = createServer((request, response) => {
    notes.push(`read ${request.url}`)
    const end = response.end.bind(response)
    response.end = ((body: string) => {
      notes.push(`answered ${request.url}`)
      return end(body)
    }) as typeof response.end
    reply(queue, response, answerTo(request.url!))
    notes.push(`put ${request.url}`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const connected = async () => {
    const client = await RawClient.connected(port)
    onTestFinished(() => client.close())
    return client
  }
  return { notes, errors, connected }
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const plain = (path: string): HttpAnswer => ({ status: 200, body: `<${path}>` })

test('answers wait until all input has been read', async () => {
  const { notes, connected } = await opened(plain)
  const client = await connected()
  await client.send(ask('/a')).until('</a>')
  await client.send(ask('/b')).until('</b>')
  expect(notes).toEqual(['read /a', 'put /a', 'answered /a', 'read /b', 'put /b', 'answered /b'])
})

test('a pipeline is answered in order, even while it is still being read', async () => {
  const { notes, connected } = await opened(plain)
  const client = await connected()
  client.send(ask('/a') + ask('/b') + ask('/c'))
  expect(await client.until('</c>')).toMatch(/<\/a>[\s\S]*<\/b>[\s\S]*<\/c>$/)
  expect(notes.indexOf('answered /a')).toBeLessThan(notes.indexOf('read /c'))
})

test('an answer that cannot be written is reported, closes its own connection, and holds up no other', async () => {
  const { errors, connected } = await opened(path =>
    path === '/bad' ? { status: 200, body: '', fields: { 'Retry-After': 'a\r\nb' } } : plain(path),
  )
  const [bad, good] = [await connected(), await connected()]
  bad.send(ask('/bad'))
  good.send(ask('/good'))
  expect(await good.until('</good>')).toMatch(/^HTTP\/1\.1 200 /)
  expect(await bad.untilClosed()).toBe('')
  expect(errors).toHaveLength(1)
})
