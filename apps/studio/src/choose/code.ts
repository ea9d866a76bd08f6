import { codeOf, yamlOf } from '../model/policies.ts'
import type { Advice, Answers } from './advice.ts'

export interface Snippet {
  readonly id: string
  readonly title: string
  readonly text: string
}

const IDENTITY: Readonly<Record<string, string>> = {
  user: 'user()',
  apiKey: 'apiKey({ verify: key => handedOut.has(key) })',
  tenant: 'tenant()',
  ip: 'ip()',
}

/** The advice as code for each framework, and as rules for the service and for Envoy. */
export function snippetsFor(advice: Advice, answers: Answers): Snippet[] {
  const frameworks: Snippet[] = advice.kind === 'shaping' ? [] : frameworkSnippets(advice, answers)
  const library = { id: 'library', title: 'TypeScript', text: libraryCode(advice, answers) }
  const yaml = { id: 'yaml', title: 'YAML', text: rulesOf(advice, answers) }
  const envoy = { id: 'envoy', title: 'Envoy', text: envoyOf(advice, answers) }
  return answers.layer === 'gateway' ? [yaml, envoy, library, ...frameworks] : [library, ...frameworks, yaml, envoy]
}

function policyName(advice: Advice): string {
  return /^\w+/.exec(codeOf(advice.kind, advice.fields))![0]
}

function libraryCode(advice: Advice, { outage }: Answers): string {
  const start =
    advice.kind === 'concurrency'
      ? 'using decision = await limiter.consume(id)'
      : 'const decision = await limiter.consume(id)'
  const call = advice.kind === 'shaping' ? "const decision = await limiter.wait(id, { maxWait: '2s' })" : start
  return `import { createLimiter, ${policyName(advice)} } from 'sluice'
import { redisStore } from 'sluice/redis'

const limiter = createLimiter(${codeOf(advice.kind, advice.fields)}, {
  store: redisStore(client),
  onOutage: '${outage}',
})
${call}
if (!decision.allowed) return tooMany(decision.retryAfterMs)`
}

function frameworkSnippets(advice: Advice, { outage }: Answers): Snippet[] {
  const identity = IDENTITY[advice.attribute]!
  const helper = /^\w+/.exec(identity)![0]
  const options = `{
  store: redisStore(client),
  headers: ['draft-11'],
  limits: {
    caller: {
      policy: ${codeOf(advice.kind, advice.fields)},
      key: ${identity},
      onOutage: '${outage}',
    },
  },
}`
  const imports = (entry: string, name = 'rateLimit') => `import { ${policyName(advice)} } from 'sluice'
import { ${helper} } from 'sluice/http'
import { redisStore } from 'sluice/redis'
import { ${name} } from 'sluice/${entry}'
`
  const use = (entry: string) => `${imports(entry)}\napp.use(rateLimit(${options}))`
  return [
    { id: 'express', title: 'Express', text: use('express') },
    { id: 'fastify', title: 'Fastify', text: `${imports('fastify')}\nawait app.register(rateLimit, ${options})` },
    { id: 'hono', title: 'Hono', text: use('hono') },
    { id: 'koa', title: 'Koa', text: use('koa') },
    {
      id: 'nest',
      title: 'Nest',
      text: `import { Module } from '@nestjs/common'\n${imports('nest', 'RateLimitModule')}\n@Module({ imports: [RateLimitModule.forRoot(${options})] })\nexport class AppModule {}`,
    },
    { id: 'fetch', title: 'Fetch', text: `${imports('fetch')}\nexport const GET = rateLimit(${options})(handler)` },
    { id: 'node', title: 'Node', text: `${imports('node')}\nconst limit = rateLimit(${options})` },
  ]
}

function rulesOf(advice: Advice, { outage }: Answers): string {
  return `store: redis://127.0.0.1:6379
limits:
  per-${attributeOf(advice)}:
    key: ${attributeOf(advice)}
    ${yamlOf(advice.kind, advice.fields)}
    on_outage: ${outage}`
}

function attributeOf({ attribute }: Advice): string {
  return attribute === 'apiKey' ? 'api_key' : attribute
}

const UNITS: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

function envoyOf(advice: Advice, { outage }: Answers): string {
  if (advice.kind === 'concurrency') {
    return '# Envoy asks before a request and says nothing after it, so a slot could not be given back.\n# Limit concurrency in the application, or with Envoy’s circuit breakers.'
  }
  const { fields, kind } = advice
  const algorithm = /^[\w-]+/.exec(yamlOf(kind, fields))![0]
  const [count, unit] = (
    fields.refill ??
    fields.leak ??
    fields.rate ??
    `${fields.limit}/${fields.window?.slice(1)}`
  ).split('/')
  const burst = fields.capacity ?? fields.burst
  const size = burst === undefined ? '' : `, burst: ${burst}`
  const key = advice.attribute === 'ip' ? 'remote_address' : attributeOf(advice)
  return `domain: edge
descriptors:
  - key: ${key}
    rate_limit: { unit: ${UNITS[unit!]}, requests_per_unit: ${count}, algorithm: ${algorithm}${size}, on_outage: ${outage} }`
}
