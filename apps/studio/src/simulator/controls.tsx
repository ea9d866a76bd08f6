import { useState } from 'preact/hooks'
import { MOST_CALLERS, MOST_COST } from '../model/address.ts'
import { nameOfCaller, SPANS_MS } from '../model/document.ts'
import { decimal, seconds } from '../model/reason.ts'
import { MOST_LINES, PATTERNS, readLog } from '../model/traffic.ts'
import { CopyButton, NumberField } from '../ui.tsx'
import type { Player } from './player.ts'

/** The callers to choose from: the busiest of an imported log. */
const MOST_CHOSEN = 50

export function Controls({ player }: { player: Player }) {
  const [n, setN] = useState(12)
  const [ms, setMs] = useState(5000)
  const { document: doc, history } = player
  const edit = (change: Partial<typeof doc>, merge: string) =>
    player.edit({ ...doc, ...change, now: Math.round(player.now) }, '', merge)
  return (
    <section class="controls" aria-label="Controls">
      <div class="group">
        <button
          type="button"
          class="primary play"
          onClick={() => (player.playing ? player.pause() : player.play())}
          data-do="play"
        >
          {player.playing ? 'Pause' : 'Play'}
        </button>
        <button type="button" onClick={() => player.step()} data-do="step">
          Step
        </button>
        <label class="inline">
          <span class="unseen">Speed</span>
          <select
            value={player.speed}
            onChange={event => {
              player.speed = Number(event.currentTarget.value)
              player.say(`Speed ${decimal(player.pace)} times.`)
            }}
          >
            {[0.25, 1, 4, 16].map(speed => (
              <option key={speed} value={speed}>{`${decimal((speed * player.pace) / player.speed)}×`}</option>
            ))}
          </select>
        </label>
        <output class="clock" data-now={Math.round(player.now)}>
          {clock(player.now)}
        </output>
        <button type="button" onClick={() => player.restart()}>
          Restart
        </button>
      </div>
      <div class="group">
        <button type="button" class="primary" onClick={() => player.burst(n)} data-do="burst">
          Burst
        </button>
        <NumberField label="Requests in a burst" value={n} min={1} max={1000} onChange={setN} />
        <button type="button" class="primary" onClick={() => player.advance(ms)} data-do="advance">
          Advance time
        </button>
        <NumberField label="Milliseconds to advance" value={ms} min={1} max={SPANS_MS.at(-1)!} onChange={setMs} />
        <span class="faint">ms</span>
      </div>
      <div class="group">
        <button type="button" disabled={history.past.length === 0} onClick={() => player.undo()} data-do="undo">
          Undo
        </button>
        <button type="button" disabled={history.future.length === 0} onClick={() => player.redo()} data-do="redo">
          Redo
        </button>
        <CopyButton
          label="Copy link"
          name="Copy link to this simulation"
          text={() => `${location.href.split('#')[0]}#/?${player.address()}`}
        />
      </div>
      <div class="group">
        {PATTERNS.map(pattern => (
          <button
            key={pattern.id}
            type="button"
            class="quiet"
            title={pattern.says}
            onClick={() => player.traffic(pattern.id)}
            data-pattern={pattern.id}
          >
            {pattern.title}
          </button>
        ))}
        <button type="button" class="quiet" onClick={() => player.clear()} data-do="clear">
          Clear
        </button>
      </div>
      <div class="group">
        <NumberField
          label="Cost of a request"
          text="cost"
          value={doc.cost}
          min={1}
          max={MOST_COST}
          onChange={cost => edit({ cost }, 'cost')}
        />
        <NumberField
          label="Callers"
          text="callers"
          value={doc.callers}
          min={1}
          max={Math.max(MOST_CALLERS, doc.names.length)}
          onChange={callers => {
            const requests = doc.requests.filter(({ caller }) => caller < callers)
            edit({ callers, requests, caller: Math.min(doc.caller, callers - 1) }, 'callers')
          }}
        />
        <label class="inline">
          <span aria-hidden="true">as</span>
          <select
            class="caller"
            aria-label="Caller that is shown and sends"
            value={doc.caller}
            onChange={event => edit({ caller: Number(event.currentTarget.value) }, '')}
          >
            {Array.from({ length: Math.min(MOST_CHOSEN, doc.callers) }, (_, caller) => (
              <option key={caller} value={caller}>
                {nameOfCaller(doc, caller)}
              </option>
            ))}
          </select>
        </label>
        <NumberField
          label="Milliseconds a served request is under way"
          text="work ms"
          value={doc.workMs}
          min={1}
          max={3_600_000}
          onChange={workMs => edit({ workMs }, 'work')}
        />
        <label class="inline">
          <span aria-hidden="true">view</span>
          <select
            aria-label="How much of the timeline is seen"
            value={doc.spanMs}
            onChange={event => edit({ spanMs: Number(event.currentTarget.value) }, 'view')}
            data-view
          >
            {SPANS_MS.map(spanMs => (
              <option key={spanMs} value={spanMs}>
                {seconds(spanMs)}
              </option>
            ))}
          </select>
        </label>
        <LogImport player={player} />
      </div>
    </section>
  )
}

/** Always of the same width, so that nothing beside it moves: tenths of seconds, then hours, minutes and seconds. */
function clock(ms: number): string {
  if (ms < 600_000) return `${(ms / 1000).toFixed(1)} s`
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  return `${h}:${String(m).padStart(2, '0')}:${String(s).padStart(2, '0')}`
}

function LogImport({ player }: { player: Player }) {
  const [note, setNote] = useState('')
  const read = (text: string) => {
    const { requests, lines, skipped, left, callers } = readLog(text)
    if (requests.length === 0) {
      setNote(
        `no request found in ${lines} lines: expected a common or combined access log, or JSON lines with time and ip`,
      )
      return
    }
    player.import(requests, callers)
    setNote(
      [
        `${requests.length} requests over ${seconds(requests.at(-1)!.at)} of ${callers.length} callers`,
        ...(skipped === 0 ? [] : [`${skipped} lines not understood`]),
        ...(left === 0 ? [] : [`${left} lines left out: no more than ${MOST_LINES} are read`]),
      ].join(', '),
    )
  }
  const drop = async (event: DragEvent) => {
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (file !== undefined) read(await file.text())
  }
  return (
    <details class="import">
      <summary>Import a log</summary>
      <section class="drop" aria-label="Import a log" onDragOver={event => event.preventDefault()} onDrop={drop}>
        <label>
          <span>Paste an access log, or drop a file here. It stays in this page.</span>
          <textarea rows={4} spellcheck={false} data-log onInput={event => read(event.currentTarget.value)} />
        </label>
        <input
          type="file"
          aria-label="A log file"
          onChange={async event => {
            const file = event.currentTarget.files?.[0]
            if (file !== undefined) read(await file.text())
          }}
        />
        <p role="status" data-log-note>
          {note}
        </p>
      </section>
    </details>
  )
}
