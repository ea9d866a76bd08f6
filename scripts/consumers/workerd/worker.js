import { rateLimit } from 'sluice/fetch'

const limit = rateLimit({ policy: '2/m', trustProxy: 1, addressFrom: 'cf-connecting-ip' })

export default { fetch: limit(() => new Response('hello')) }
