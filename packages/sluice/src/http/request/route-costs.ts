import { checkCost } from '../../limiter/limits.ts'
import type { RequestFacts } from './request-facts.ts'
import { templateSegments } from './routes.ts'

/** A cost for each route, `'/search'`, or for one method of it, `'POST /orders'`. Other routes cost 1. */
export function routeCosts(table: Readonly<Record<string, number>>): (facts: RequestFacts) => number {
  const costs = new Map<string, number>()
  for (const [route, cost] of Object.entries(table)) {
    const [, method = '', template = route] = /^([A-Za-z]+) +(\/.*)$/.exec(route) ?? []
    costs.set(`${method.toUpperCase()} ${templateSegments(template).join('/')}`, checkCost(cost))
  }
  return ({ method, route }) => {
    if (route === undefined) return 1
    const template = templateSegments(route).join('/')
    return costs.get(`${method} ${template}`) ?? costs.get(` ${template}`) ?? 1
  }
}
