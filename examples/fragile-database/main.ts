import { gentleWriter } from './app.ts'

const write = gentleWriter(async row => console.log('written', row))
await Promise.all(Array.from({ length: 30 }, (_, id) => write({ id })))
await write.drain()
