import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { seconds } from '../model/reason.ts'
import { type Ask, type Explained, explain, type LimitState, peek } from './service.ts'

const PEEK_EVERY_MS = 1000
const COUNT_EVERY_MS = 100

interface Known {
  readonly rules: readonly Explained[]
  readonly limits: readonly LimitState[]
  /** By this page's clock; the times count down from then on. */
  readonly at: number
  readonly error?: string
}

const NOTHING: Known = { rules: [], limits: [], at: 0 }

export interface RulesState extends Known {
  readonly refresh: () => void
}

/** The state of the rules for this request, asked every second while the page is visible. Asking takes nothing. */
export function useRules(ask: Ask, active: boolean): RulesState {
  const [known, setKnown] = useState(NOTHING)
  const newest = useRef(0)
  const asked = useRef(ask)
  asked.current = ask
  const failed = useRef(false)
  const refresh = async () => {
    const turn = ++newest.current
    try {
      const [rules, { limits }] = await Promise.all([explain(asked.current), peek(asked.current)])
      if (turn !== newest.current) return
      failed.current = false
      setKnown({ rules, limits, at: performance.now() })
    } catch (error) {
      if (turn !== newest.current) return
      failed.current = true
      setKnown(before => ({ ...before, error: (error as Error).message }))
    }
  }
  const text = JSON.stringify(ask)
  useEffect(() => {
    if (!active) return
    void refresh()
    const timer = setInterval(() => {
      // The service rejected this request, and would reject it again until it is changed.
      if (!document.hidden && !failed.current) void refresh()
    }, PEEK_EVERY_MS)
    return () => clearInterval(timer)
  }, [active, text])
  return { ...known, refresh: () => void refresh() }
}

export function Rules({ rules: { rules, limits, at, error } }: { rules: RulesState }) {
  const [, count] = useReducer((n: number) => n + 1, 0)
  useEffect(() => {
    const timer = setInterval(() => count(undefined), COUNT_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const passed = performance.now() - at
  return (
    <>
      {error === undefined ? null : (
        <p class="error" role="status" data-error>
          {error}
        </p>
      )}
      <ul class="rules" aria-label="Rules">
        {rules.map(rule => (
          <Rule key={rule.limit} rule={rule} state={limits.find(({ name }) => name === rule.limit)} passed={passed} />
        ))}
      </ul>
    </>
  )
}

function Rule({ rule, state, passed }: { rule: Explained; state: LimitState | undefined; passed: number }) {
  const refuses = state !== undefined && !state.allowed
  return (
    <li class={refuses ? 'rule refuses' : 'rule'} data-rule={rule.limit}>
      <div>
        <strong>{rule.limit}</strong>
        {rule.mode === 'enforce' ? null : <span class="faint">{rule.mode}</span>}
        <p class="faint">{rule.policy ?? `does not apply: ${rule.why}`}</p>
      </div>
      {state === undefined ? null : (
        <div>
          {/* The text below says the same. */}
          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect width={state.limit === 0 ? 0 : Math.max(0, (100 * state.remaining) / state.limit)} height="10" />
          </svg>
          <p class="numbers">
            <span data-left>{`${state.remaining} of ${state.limit} left`}</span>
            <span data-when>{refuses ? retryOf(state, passed) : resetOf(state, passed)}</span>
          </p>
        </div>
      )}
    </li>
  )
}

function retryOf({ retryAfterMs }: LimitState, passed: number): string {
  return retryAfterMs === null ? 'refuses: more than it ever lets pass' : `refuses for ${tenths(retryAfterMs - passed)}`
}

function resetOf({ resetAfterMs }: LimitState, passed: number): string {
  if (resetAfterMs === 0) return 'full'
  return resetAfterMs === null ? 'never resets' : `resets in ${tenths(resetAfterMs - passed)}`
}

/** Of constant width while it counts down. */
function tenths(ms: number): string {
  const left = Math.max(0, ms)
  return left < 120_000 ? `${(left / 1000).toFixed(1)} s` : seconds(left)
}
