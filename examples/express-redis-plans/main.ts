import { Redis } from 'ioredis'
import { redisStore } from 'sluice/redis'
import { createApp } from './app.ts'

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1')
redis.on('error', error => console.error('redis:', error.message))

createApp(redisStore(redis)).listen(3000, '127.0.0.1', () => console.log('http://127.0.0.1:3000/search'))
