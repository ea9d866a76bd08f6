import { createApp } from './app.mts'

const app = await createApp()
await app.listen(3000, '127.0.0.1')
console.log(`${await app.getUrl()}/orders`)
