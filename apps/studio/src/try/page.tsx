import { useEffect, useState } from 'preact/hooks'
import { seconds } from '../model/reason.ts'

interface Limit {
  readonly name: string
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAfterMs: number | null
  readonly shadow: boolean
}

interface Decision {
  readonly allowed: boolean
  readonly policy: string
  readonly retryAfterMs: number | null
  readonly limits: readonly Limit[]
}

interface Note {
  readonly id: number
  readonly text: string
  readonly mark: '' | 'pass' | 'stop'
}

const FIELDS = { ip: '203.0.113.7', user: '42', plan: 'free', route: '/search', cost: '1' }
const MOST_NOTES = 50

/** The operator's token that `npm start` prints: it goes along with every request. See main.tsx. */
const token = sessionStorage.getItem('token')

async function call(path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(path, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    },
  })
  const answer: unknown = await response.json()
  const { error } = Object(answer) as { error?: string }
  if (error !== undefined) throw new Error(error)
  return answer
}

export default function Try(_: { rest: string }) {
  const [served, setServed] = useState<boolean>()
  const [fields, setFields] = useState<Record<string, string>>(FIELDS)
  const [limits, setLimits] = useState<readonly Limit[]>([])
  const [notes, setNotes] = useState<readonly Note[]>([])
  useEffect(() => {
    // A plain file server has no service behind it: nothing is asked of it but this.
    fetch('./openapi.json')
      .then(response => response.ok && response.headers.get('content-type')?.includes('json') === true)
      .then(setServed, () => setServed(false))
  }, [])
  const note = (...added: Omit<Note, 'id'>[]) =>
    setNotes(before => {
      const first = (before[0]?.id ?? 0) + added.length
      return [...added.map((one, n) => ({ ...one, id: first - n })), ...before].slice(0, MOST_NOTES)
    })
  const subject = () => {
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
    return { ...given, cost: Number(given.cost ?? 1) }
  }
  const during = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      note({ text: (error as Error).message, mark: 'stop' })
    }
  }
  const send = (times: number) =>
    during(async () => {
      const asks = Array.from({ length: times }, subject)
      const answer = (await call('./v1/check', times === 1 ? asks[0] : asks)) as Decision | Decision[]
      const decisions = Array.isArray(answer) ? answer : [answer]
      setLimits(decisions.at(-1)?.limits ?? [])
      const passed = decisions.filter(({ allowed }) => allowed).length
      const refused = decisions.find(({ allowed }) => !allowed)
      const told: Omit<Note, 'id'>[] = [
        { text: `${passed} of ${decisions.length} served`, mark: passed > 0 ? 'pass' : 'stop' },
      ]
      if (refused !== undefined) {
        told.push({ text: `refused by ${refused.policy}: retry in ${inWords(refused.retryAfterMs)}`, mark: 'stop' })
      }
      note(...told)
    })
  const explain = () =>
    during(async () => {
      const query = new URLSearchParams(Object.entries(subject()).map(([name, value]) => [name, String(value)]))
      const told = (await call(`./v1/explain?${query}`)) as { limit: string; applies: boolean; why: string }[]
      note(
        ...told.map(({ limit, applies, why }) => ({
          text: `${limit} ${applies ? 'applies' : 'does not apply'}: ${why}`,
          mark: '' as const,
        })),
      )
    })
  const reset = () =>
    during(async () => {
      const { cost, ...who } = subject()
      await call('./v1/reset', who)
      note({ text: 'forgotten: the limits start afresh', mark: 'pass' })
    })
  return (
    <div class="page">
      <h1>Try</h1>
      {served === false ? (
        <p class="lead" data-no-service>
          There is no service behind this page. Start one with <code>npm start</code> and open the address it prints;
          the simulator, the scenes and the chooser need none.
        </p>
      ) : (
        <p class="lead">
          Send requests to the running service as somebody, and watch what its rules make of them. All calls are in{' '}
          <a href="./openapi.json">openapi.json</a>, all counts in <a href="./metrics">metrics</a>.
        </p>
      )}
      <form
        class="ask"
        onSubmit={event => {
          event.preventDefault()
          void send(1)
        }}
      >
        {Object.entries(fields).map(([name, value]) => (
          <label key={name}>
            {name}
            <input
              name={name}
              value={value}
              autocomplete="off"
              onInput={event => setFields({ ...fields, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <div class="row">
          <button type="submit" class="primary" disabled={served !== true} data-send="1">
            Send one
          </button>
          {[10, 100].map(times => (
            <button key={times} type="button" disabled={served !== true} onClick={() => send(times)} data-send={times}>
              {`Send ${times}`}
            </button>
          ))}
          <button type="button" disabled={served !== true} onClick={explain} data-explain>
            Explain
          </button>
          {token === null ? null : (
            <button type="button" disabled={served !== true} onClick={reset} data-reset>
              Reset
            </button>
          )}
        </div>
      </form>
      <div class="bars">
        {limits.map(({ name, limit, remaining, resetAfterMs, shadow }) => (
          <div key={name}>
            <span>{`${name}${shadow ? ' (shadow)' : ''}: ${remaining} of ${limit} left, resets in ${inWords(resetAfterMs)}`}</span>
            <meter min={0} max={Math.max(1, limit)} value={remaining} aria-label={`${name}: remaining`} />
          </div>
        ))}
      </div>
      <ol class="log" aria-live="polite" aria-label="What happened" data-notes>
        {notes.map(({ id, text, mark }) => (
          <li key={id} class={mark}>
            {text}
          </li>
        ))}
      </ol>
    </div>
  )
}

function inWords(ms: number | null): string {
  return ms === null ? 'never' : seconds(ms)
}
