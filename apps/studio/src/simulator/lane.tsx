import { useEffect, useRef } from 'preact/hooks'
import type { Lane } from '../model/document.ts'
import { ALGORITHMS, codeOf, envelopeOf, limitOf, policyOf, yamlOf } from '../model/policies.ts'
import { decimal, seconds } from '../model/reason.ts'
import type { LaneRun } from '../model/run.ts'
import { CopyButton } from '../ui.tsx'
import { freshContext, inkOf } from './ink.ts'
import type { Player } from './player.ts'
import { drawState, wordsOf } from './state-picture.ts'
import { drawOutcomes, viewAt } from './timeline-picture.ts'

export const SPAN_MS = 30_000

export function LaneCard({ lane, player }: { lane: Lane; player: Player }) {
  const made = policyOf(lane.kind, lane.fields)
  const { title, says } = ALGORITHMS[lane.kind]
  const run = player.run.lanes.get(lane.kind)
  return (
    <section class="lane" aria-labelledby={`lane-${lane.kind}`} data-lane={lane.kind}>
      <header>
        <div>
          <h2 id={`lane-${lane.kind}`}>{title}</h2>
          <p class="faint">{says}</p>
        </div>
        <div class="row">
          <CopyButton label="code" name={`Copy ${title} as code`} text={codeOf(lane.kind, lane.fields)} />
          <CopyButton label="YAML" name={`Copy ${title} as YAML`} text={yamlOf(lane.kind, lane.fields)} />
        </div>
      </header>
      <PolicyFields lane={lane} player={player} error={made.error} />
      {run === undefined ? (
        <div class="lane-picture empty" />
      ) : (
        <>
          <Pictures run={run} player={player} />
          <Counts run={run} callers={player.document.callers} />
          <p class="reason" data-reason>
            {run.lastRefusal === undefined
              ? 'Nothing refused so far.'
              : `Refused at ${decimal(run.lastRefusal.at / 1000)} s: ${run.lastRefusal.text}.`}
          </p>
        </>
      )}
    </section>
  )
}

function PolicyFields({ lane, player, error }: { lane: Lane; player: Player; error: string | undefined }) {
  const set = (field: string, value: string) => {
    const { document } = player
    const lanes = document.lanes.map(one =>
      one.kind === lane.kind ? { ...one, fields: { ...one.fields, [field]: value } } : one,
    )
    player.edit({ ...document, lanes, now: Math.round(player.now) }, '', `${lane.kind} ${field}`)
  }
  const errorId = `error-${lane.kind}`
  return (
    <div class="fields">
      {Object.entries(lane.fields).map(([field, value]) => (
        <label key={field} for={`${lane.kind}-${field}`}>
          <span>{field}</span>
          {field === 'align' ? (
            <select
              id={`${lane.kind}-${field}`}
              value={value}
              onChange={event => set(field, event.currentTarget.value)}
            >
              <option>epoch</option>
              <option>key</option>
              <option>first</option>
            </select>
          ) : (
            <input
              id={`${lane.kind}-${field}`}
              value={value}
              size={5}
              spellcheck={false}
              autocomplete="off"
              aria-invalid={error !== undefined}
              aria-describedby={errorId}
              onInput={event => set(field, event.currentTarget.value)}
            />
          )}
        </label>
      ))}
      <p class="error" id={errorId} role="status" data-error>
        {error ?? ''}
      </p>
    </div>
  )
}

function Pictures({ run, player }: { run: LaneRun; player: Player }) {
  const state = useRef<HTMLCanvasElement>(null)
  const outcomes = useRef<HTMLCanvasElement>(null)
  const { kind } = run
  useEffect(
    () =>
      player.onDraw(() => {
        const lane = player.run.lanes.get(kind)
        if (lane === undefined) return
        const ink = inkOf()
        const s = state.current === null ? undefined : freshContext(state.current)
        if (s !== undefined) {
          drawState(
            s,
            state.current!.clientWidth,
            state.current!.clientHeight,
            kind,
            lane.inspect(player.document.caller),
            ink,
          )
        }
        const o = outcomes.current === null ? undefined : freshContext(outcomes.current)
        if (o === undefined) return
        const { clientWidth, clientHeight } = outcomes.current!
        const { requests, done, now } = player.run
        drawOutcomes(o, clientWidth, clientHeight, lane, requests, done, viewAt(now, SPAN_MS), now, ink)
      }),
    [player, kind],
  )
  const words = wordsOf(kind, run.inspect(player.document.caller))
  return (
    <div class="lane-picture">
      <figure>
        <canvas ref={state} class="state" role="img" aria-label={`${ALGORITHMS[kind].title}: ${words}`} />
        <figcaption>{words}</figcaption>
      </figure>
      <canvas
        ref={outcomes}
        class="outcomes"
        role="img"
        aria-label={`${ALGORITHMS[kind].title} over time: ${run.served} served, ${run.refused} refused`}
      />
    </div>
  )
}

function Counts({ run, callers }: { run: LaneRun; callers: number }) {
  const envelope = envelopeOf(run.policy)
  const limit = limitOf(run.policy)
  const error = envelope === undefined ? '–' : `${run.decided === 0 ? 0 : decimal((100 * run.errors) / run.decided)} %`
  return (
    <dl class="counts">
      <Count name="served" value={run.served} mark="served" />
      <Count name="refused" value={run.refused} mark="refused" />
      <Count
        name={envelope === undefined ? 'most at once' : `worst in any ${seconds(envelope.windowMs)}`}
        value={`${run.worst} of ${limit}`}
        mark={run.worst > limit ? 'over' : ''}
        id="worst"
      />
      <Count name="unlike the exact log" value={error} id="error" />
      <Count name="bytes of state" value={run.bytes(callers)} id="bytes" />
    </dl>
  )
}

function Count({
  name,
  value,
  mark = '',
  id = name,
}: {
  name: string
  value: string | number
  mark?: string
  id?: string
}) {
  return (
    <div class={mark}>
      <dt>{name}</dt>
      <dd data-count={id}>{value}</dd>
    </div>
  )
}
