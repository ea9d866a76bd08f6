import 'reflect-metadata'
import { Controller, Get, type INestApplication, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { type Clock, tokenBucket } from 'sluice'
import { ip } from 'sluice/http'
import { Cost, RateLimit, RateLimitModule, SkipRateLimit } from 'sluice/nest'

@Controller('orders')
class OrdersController {
  @Get()
  list() {
    return []
  }

  /** The same bucket, at another price. */
  @Get('search')
  @Cost(5)
  search() {
    return { found: [] }
  }

  /** A limit of its own, beside the bucket: a request is charged to both or to neither. */
  @Post('export')
  @RateLimit({ limits: { exports: { policy: '1/h', key: ip() } } })
  export() {
    return { queued: true }
  }
}

@Controller('health')
@SkipRateLimit()
class HealthController {
  @Get()
  check() {
    return 'ok'
  }
}

@Module({ controllers: [OrdersController, HealthController] })
class AppModule {}

export function createApp(settings: { clock?: Clock } = {}): Promise<INestApplication> {
  const limits = RateLimitModule.forRoot({ ...settings, policy: tokenBucket({ capacity: 10, refill: '10/m' }) })
  return NestFactory.create({ module: AppModule, imports: [limits] }, { logger: ['warn', 'error'] })
}
