import { useEffect, useRef, useState } from 'preact/hooks'
import type { Lane } from '../model/document.ts'
import { ALGORITHMS, codeOf, envelopeOf, type LaneKind, limitOf, policyOf, yamlOf } from '../model/policies.ts'
import { decimal, seconds } from '../model/reason.ts'
import type { LaneRun } from '../model/run.ts'
import { CopyButton } from '../ui.tsx'
import { freshContext, inkOf } from './ink.ts'
import type { Player } from './player.ts'
import { drawState, wordsOf } from './state-picture.ts'
import { drawOutcomes, viewAt } from './timeline-picture.ts'

export function LaneCard({ lane, player }: { lane: Lane; player: Player }) {
  const made = policyOf(lane.kind, lane.fields)
  const { title, says } = ALGORITHMS[lane.kind]
  const run = player.run.lanes.get(lane.kind)
  return (
    <section class="lane" aria-labelledby={`lane-${lane.kind}`} data-lane={lane.kind}>
      <header>
        <h2 id={`lane-${lane.kind}`}>{title}</h2>
        <div class="row">
          <CopyButton label="code" name={`Copy ${title} as code`} text={codeOf(lane.kind, lane.fields)} />
          <CopyButton label="YAML" name={`Copy ${title} as YAML`} text={yamlOf(lane.kind, lane.fields)} />
        </div>
      </header>
      <p class="faint">{says}</p>
      <PolicyFields lane={lane} player={player} invalid={made.error !== undefined} />
      {/* The error takes the place of the picture, so that nothing moves while the user types. */}
      <div class="lane-picture">
        {run === undefined ? null : <Pictures run={run} player={player} />}
        <p class="error" id={`error-${lane.kind}`} role="status" data-error>
          {made.error ?? ''}
        </p>
      </div>
      <Counts kind={lane.kind} run={run} callers={player.document.callers} />
      <Refusals run={run} />
    </section>
  )
}

/** The reason of a refusal: the last one, or the one selected. */
function Refusals({ run }: { run: LaneRun | undefined }) {
  const [picked, setPicked] = useState<number>()
  const refusals = run?.refusals ?? []
  const last = refusals.length - 1
  const index = Math.max(0, Math.min(picked ?? last, last))
  const refusal = refusals[index]
  const go = (step: number) => setPicked(index + step === last ? undefined : index + step)
  return (
    <div class="reason">
      <p data-reason>
        {refusal === undefined ? 'Nothing refused so far.' : `Refused at ${seconds(refusal.at)}: ${refusal.text}.`}
      </p>
      <div class="row">
        <button
          type="button"
          class="quiet"
          aria-label="The refusal before"
          disabled={index === 0}
          onClick={() => go(-1)}
          data-refusal="before"
        >
          ‹
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="The refusal after"
          disabled={index >= last}
          onClick={() => go(1)}
          data-refusal="after"
        >
          ›
        </button>
      </div>
    </div>
  )
}

function PolicyFields({ lane, player, invalid }: { lane: Lane; player: Player; invalid: boolean }) {
  const set = (field: string, value: string) => {
    const { document } = player
    const lanes = document.lanes.map(one =>
      one.kind === lane.kind ? { ...one, fields: { ...one.fields, [field]: value } } : one,
    )
    player.edit({ ...document, lanes, now: Math.round(player.now) }, '', `${lane.kind} ${field}`)
  }
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
              aria-invalid={invalid}
              aria-describedby={`error-${lane.kind}`}
              onInput={event => set(field, event.currentTarget.value)}
            />
          )}
        </label>
      ))}
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
        drawOutcomes(o, clientWidth, clientHeight, lane, requests, done, viewAt(now, player.document.spanMs), now, ink)
      }),
    [player, kind],
  )
  const words = wordsOf(kind, run.inspect(player.document.caller))
  return (
    <>
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
    </>
  )
}

function Counts({ kind, run, callers }: { kind: LaneKind; run: LaneRun | undefined; callers: number }) {
  const envelope = run === undefined ? undefined : envelopeOf(run.policy)
  const limit = run === undefined ? 0 : limitOf(run.policy)
  const worst = run === undefined ? NONE : `${run.worst} of ${limit}`
  return (
    <dl class="counts">
      <Count name="served" value={run?.served ?? NONE} mark="served" />
      <Count name="refused" value={run?.refused ?? NONE} mark="refused" />
      <Count
        name={
          kind === 'concurrency'
            ? 'most at once'
            : envelope === undefined
              ? 'worst in\u00a0any window'
              : `worst in any\u00a0${seconds(envelope.windowMs).replace(' ', '\u00a0')}`
        }
        value={worst}
        mark={run !== undefined && run.worst > limit ? 'over' : ''}
        id="worst"
      />
      <Count
        name="unlike the exact log"
        value={run === undefined || envelope === undefined ? NONE : `${percent(run.errors, run.decided)} %`}
        id="error"
      />
      <Count name="bytes of state" value={run?.bytes(callers) ?? NONE} id="bytes" />
    </dl>
  )
}

const NONE = '–'

function percent(part: number, whole: number): string {
  return whole === 0 ? '0' : decimal((100 * part) / whole)
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
