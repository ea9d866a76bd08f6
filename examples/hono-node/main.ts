import { serve } from '@hono/node-server'
import { createApp } from './app.ts'

serve({ fetch: createApp().fetch, hostname: '127.0.0.1', port: 3000 }, () => {
  console.log('http://127.0.0.1:3000/api/orders/7')
})
