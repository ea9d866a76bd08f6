export { nearestName } from '../check-options.ts'
export type { AccessEntry } from './attributes/access-list.ts'
export { policyFor } from './attributes/applying.ts'
export { type Attributes, readingsOf } from './attributes/attributes.ts'
export type { Condition } from './attributes/conditions.ts'
export type { Explanation } from './attributes/explain.ts'
export { isPlans, type RuleLimit } from './attributes/limit.ts'
export type { RulePlans } from './attributes/plans.ts'
export { type Rules, readRules } from './attributes/rules.ts'
export { type RulesLimiter, type RulesOptions, rulesLimiter } from './attributes/rules-limiter.ts'
export { type Domains, readDescriptorFiles } from './descriptors/descriptor-file.ts'
export type { DescriptorExplanation } from './descriptors/explain.ts'
export type { CurrentLimit, RateLimit } from './descriptors/rate-limit.ts'
export { type RlsDescriptor, RlsError, type RlsRequest } from './descriptors/request.ts'
export { type Rls, type RlsOptions, rls } from './descriptors/rls.ts'
export type { CountedHits, RlsCode, RlsResponse, RlsStatus } from './descriptors/statuses.ts'
export {
  type DescriptorEntry,
  type DescriptorRule,
  type Level,
  rulesAt,
  rulesOf,
  type Values,
} from './descriptors/tree.ts'
export { keepsState } from './kept-state.ts'
export { type Mistake, type Path, RulesError } from './mistakes.ts'
export { outageWords } from './on-outage.ts'
export { policyWords } from './words.ts'
