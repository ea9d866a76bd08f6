import { useEffect, useState } from 'preact/hooks'
import { seconds } from '../model/reason.ts'
import { CopyButton } from '../ui.tsx'
import { type Attribute, attributesOf } from './attributes.ts'
import { Rules, useRules } from './rules.tsx'
import { type Ask, check, curlOf, isOperator, isServed, limits, reset } from './service.ts'

interface Note {
  readonly id: number
  readonly text: string
  readonly mark: '' | 'pass' | 'stop'
}

const MOST_NOTES = 50

export default function Try(_: { rest: string }) {
  const [served, setServed] = useState<boolean>()
  const [attributes, setAttributes] = useState<readonly Attribute[]>([])
  const [cost, setCost] = useState('1')
  const [notes, setNotes] = useState<readonly Note[]>([])
  useEffect(() => {
    const open = async () => {
      const isThere = await isServed()
      // A service with rules for Envoy alone has no limits by attribute.
      if (isThere) setAttributes(attributesOf(await limits().catch(() => [])))
      setServed(isThere)
    }
    void open()
  }, [])
  const ask: Ask = {
    ...Object.fromEntries(attributes.filter(({ value }) => value !== '').map(({ name, value }) => [name, value])),
    // Text that is no number is sent as typed, and the service says what is wrong with it.
    cost: cost === '' ? 1 : Number.isNaN(Number(cost)) ? cost : Number(cost),
  }
  const rules = useRules(ask, served === true)
  const note = (...added: Omit<Note, 'id'>[]) =>
    setNotes(before => {
      const first = (before[0]?.id ?? 0) + added.length
      return [...added.map((one, n) => ({ ...one, id: first - n })), ...before].slice(0, MOST_NOTES)
    })
  const during = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      note({ text: (error as Error).message, mark: 'stop' })
    }
    rules.refresh()
  }
  const send = (times: number) =>
    during(async () => {
      const answer = await check(times === 1 ? ask : Array.from({ length: times }, () => ask))
      const decisions = Array.isArray(answer) ? answer : [answer]
      const passed = decisions.filter(({ allowed }) => allowed).length
      const refused = decisions.find(({ allowed }) => !allowed)
      const retry = refused?.retryAfterMs ?? null
      note(
        { text: `${passed} of ${decisions.length} served`, mark: passed === decisions.length ? 'pass' : 'stop' },
        ...(refused === undefined
          ? []
          : [
              {
                text: `refused by ${refused.policy}: ${retry === null ? 'it never passes' : `retry in ${seconds(retry)}`}`,
                mark: 'stop' as const,
              },
            ]),
      )
    })
  const forget = () =>
    during(async () => {
      await reset(ask)
      note({ text: 'forgotten: the limits start afresh', mark: 'pass' })
    })
  const change = (index: number, changed: Attribute) =>
    setAttributes(attributes.map((attribute, n) => (n === index ? changed : attribute)))
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
          Send requests to the service at <code data-host>{location.host}</code> as somebody, and watch what its rules
          make of them. All calls are in <a href="./openapi.json">openapi.json</a>, all counts in{' '}
          <a href="./metrics">metrics</a>.
        </p>
      )}
      <form
        class="ask"
        onSubmit={event => {
          event.preventDefault()
          void send(1)
        }}
      >
        {attributes.map(({ name, value }, index) => (
          <label key={name}>
            {name}
            <span class="attribute">
              <input
                name={name}
                value={value}
                autocomplete="off"
                onInput={event => change(index, { name, value: event.currentTarget.value })}
              />
              <button
                type="button"
                class="quiet"
                aria-label={`Leave out ${name}`}
                onClick={() => setAttributes(attributes.filter((_, n) => n !== index))}
              >
                ×
              </button>
            </span>
          </label>
        ))}
        <AddAttribute
          taken={attributes.map(({ name }) => name)}
          add={name => setAttributes([...attributes, { name, value: '' }])}
        />
        <label>
          cost
          <input
            name="cost"
            value={cost}
            inputMode="numeric"
            autocomplete="off"
            onInput={event => setCost(event.currentTarget.value)}
          />
        </label>
        <div class="row ask-buttons">
          <button type="submit" class="primary" disabled={served !== true} data-send="1">
            Send one
          </button>
          {[10, 100].map(times => (
            <button key={times} type="button" disabled={served !== true} onClick={() => send(times)} data-send={times}>
              {`Send ${times}`}
            </button>
          ))}
          {isOperator ? (
            <button type="button" disabled={served !== true} onClick={forget} data-reset>
              Reset
            </button>
          ) : null}
          <CopyButton label="Copy curl" name="Copy curl for this request" text={curlOf(ask)} />
        </div>
      </form>
      <Rules rules={rules} />
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

function AddAttribute({ taken, add }: { taken: readonly string[]; add: (name: string) => void }) {
  const [name, setName] = useState('')
  const isFree = name !== '' && name !== 'cost' && !taken.includes(name)
  const use = () => {
    if (!isFree) return
    add(name)
    setName('')
  }
  return (
    <label>
      another attribute
      <span class="attribute">
        <input
          value={name}
          placeholder="name"
          autocomplete="off"
          onInput={event => setName(event.currentTarget.value.trim())}
          onKeyDown={event => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            use()
          }}
          data-attribute
        />
        <button type="button" class="quiet" aria-label="Add the attribute" disabled={!isFree} onClick={use}>
          +
        </button>
      </span>
    </label>
  )
}
