import { useState } from 'preact/hooks'
import { withRequests } from '../model/document.ts'
import { decimal } from '../model/reason.ts'
import { nameOf } from '../model/run.ts'
import { PATTERNS, readLog } from '../model/traffic.ts'
import { CopyButton, NumberField } from '../ui.tsx'
import type { Player } from './player.ts'

export function Controls({ player }: { player: Player }) {
  const [n, setN] = useState(12)
  const [ms, setMs] = useState(5000)
  const { document: doc, history } = player
  return (
    <div class="controls" role="toolbar" aria-label="Simulation">
      <div class="group">
        <button type="button" class="primary" onClick={() => player.burst(n)} data-do="burst">
          Burst
        </button>
        <NumberField label="Requests in a burst" value={n} min={1} max={1000} onChange={setN} />
        <button type="button" class="primary" onClick={() => player.advance(ms)} data-do="advance">
          Advance time
        </button>
        <NumberField label="Milliseconds to advance" value={ms} min={1} max={86_400_000} onChange={setMs} />
        <span class="faint">ms</span>
      </div>
      <div class="group">
        <button type="button" onClick={() => (player.playing ? player.pause() : player.play())} data-do="play">
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
              player.say(`Speed ${player.speed} times.`)
            }}
          >
            {[0.25, 1, 4, 16].map(speed => (
              <option key={speed} value={speed}>{`${speed}×`}</option>
            ))}
          </select>
        </label>
        <output class="clock" data-now={Math.round(player.now)}>
          {`${(player.now / 1000).toFixed(1)} s`}
        </output>
        <button type="button" onClick={() => player.restart()}>
          Restart
        </button>
        <button type="button" disabled={history.past.length === 0} onClick={() => player.undo()} data-do="undo">
          Undo
        </button>
        <button type="button" disabled={history.future.length === 0} onClick={() => player.redo()} data-do="redo">
          Redo
        </button>
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
          max={1000}
          onChange={cost => player.edit({ ...doc, cost, now: Math.round(player.now) }, '', 'cost')}
        />
        <NumberField
          label="Callers"
          text="callers"
          value={doc.callers}
          min={1}
          max={8}
          onChange={callers =>
            player.edit(
              { ...doc, callers, caller: Math.min(doc.caller, callers - 1), now: Math.round(player.now) },
              '',
              'callers',
            )
          }
        />
        <label class="inline">
          <span>as</span>
          <select
            aria-label="Caller that is shown and sends"
            value={doc.caller}
            onChange={event =>
              player.edit({ ...doc, caller: Number(event.currentTarget.value), now: Math.round(player.now) })
            }
          >
            {Array.from({ length: doc.callers }, (_, caller) => (
              <option key={nameOf(caller)} value={caller}>
                {nameOf(caller)}
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
          onChange={workMs => player.edit({ ...doc, workMs, now: Math.round(player.now) }, '', 'work')}
        />
        <LogImport player={player} />
        <CopyButton
          label="Copy link"
          name="Copy link to this simulation"
          text={() => `${location.href.split('#')[0]}#/?${player.address()}`}
        />
      </div>
    </div>
  )
}

function LogImport({ player }: { player: Player }) {
  const [note, setNote] = useState('')
  const read = (text: string) => {
    const { requests, lines, skipped, callers } = readLog(text)
    if (requests.length === 0) {
      setNote(
        `no request found in ${lines} lines: expected a common or combined access log, or JSON lines with time and ip`,
      )
      return
    }
    player.pause()
    player.imported = true
    const fresh = { ...player.document, requests: [], now: 0, callers: 1, caller: 0 }
    player.edit(withRequests(fresh, requests), `${requests.length} requests imported.`)
    const left = skipped === 0 ? '' : `, ${skipped} lines not understood`
    setNote(
      `${requests.length} requests over ${decimal(requests.at(-1)!.at / 1000)} s of ${callers.length} callers${left}`,
    )
  }
  return (
    <details class="import">
      <summary>Import a log</summary>
      <section
        class="drop"
        aria-label="Import a log"
        onDragOver={event => event.preventDefault()}
        onDrop={async event => {
          event.preventDefault()
          const file = event.dataTransfer?.files[0]
          if (file !== undefined) read(await file.text())
        }}
      >
        <label>
          <span>Paste an access log, or drop a file here. It stays in this page.</span>
          <textarea rows={4} spellcheck={false} data-log onChange={event => read(event.currentTarget.value)} />
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
