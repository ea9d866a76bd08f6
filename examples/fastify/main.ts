import { createApp } from './app.ts'

const app = await createApp()
console.log(`${await app.listen({ host: '127.0.0.1', port: 3000 })}/orders/7`)
