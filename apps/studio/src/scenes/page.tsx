import { useEffect, useState } from 'preact/hooks'
import { seconds } from '../model/reason.ts'
import { LineChart } from './chart.tsx'
import { SCENES } from './list.ts'
import type { Figure, Outcome, Scene, Sequence, Track } from './scene.ts'

export default function Scenes({ rest }: { rest: string }) {
  const scene = SCENES.find(({ id }) => id === rest)
  return scene === undefined ? <SceneList /> : <ScenePage key={scene.id} scene={scene} />
}

function SceneList() {
  return (
    <div class="page">
      <h1>Scenes</h1>
      <p class="lead">
        Small experiments, each with a question. Predict first, then let the library answer: every number here is
        counted in this page, while you watch.
      </p>
      <ul class="scene-list">
        {SCENES.map(({ id, title, question }) => (
          <li key={id}>
            <a class="scene-card" href={`#/scenes/${id}`}>
              <strong>{title}</strong>
              <span class="faint">
                <Prose text={question} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}

function ScenePage({ scene }: { scene: Scene }) {
  const [chosen, setChosen] = useState<number>()
  const [outcome, setOutcome] = useState<Outcome>()
  useEffect(() => {
    if (chosen !== undefined && outcome === undefined) void scene.run().then(setOutcome)
  }, [chosen, outcome, scene])
  const verdictOf = (answer: number) =>
    chosen === undefined ? undefined : answer === scene.right ? 'right' : answer === chosen ? 'wrong' : undefined
  const index = SCENES.indexOf(scene)
  const next = SCENES[(index + 1) % SCENES.length]!
  return (
    <article class="page" data-scene={scene.id}>
      <p class="faint">
        <a href="#/scenes">All scenes</a> · {index + 1} of {SCENES.length}
      </p>
      <h1>{scene.title}</h1>
      <p class="lead">
        <Prose text={scene.text} />
      </p>
      <fieldset class="answers">
        <legend>
          <Prose text={scene.question} />
        </legend>
        {scene.answers.map((answer, n) => (
          <button
            key={answer}
            type="button"
            onClick={() => setChosen(n)}
            disabled={chosen !== undefined}
            data-answer={n}
            data-verdict={verdictOf(n)}
          >
            {answer}
            {verdictOf(n) === undefined ? '' : verdictOf(n) === 'right' ? ' ✓ right' : ' ✗ not this one'}
          </button>
        ))}
      </fieldset>
      <div class="outcome" aria-live="polite">
        {outcome === undefined ? (
          <p class="faint">Choose an answer, and the run begins.</p>
        ) : (
          <OutcomeView outcome={outcome} />
        )}
      </div>
      <p class="row">
        {chosen === undefined ? null : (
          <button
            type="button"
            onClick={() => {
              setChosen(undefined)
              setOutcome(undefined)
            }}
            data-again
          >
            Once more
          </button>
        )}
        Next: <a href={`#/scenes/${next.id}`}>{next.title}</a>
      </p>
    </article>
  )
}

function OutcomeView({ outcome }: { outcome: Outcome }) {
  const { figures, tracks = [], sequences = [], chart, conclusion } = outcome
  return (
    <>
      <p data-conclusion>
        <Prose text={conclusion} />
      </p>
      <dl class="figures">
        {figures.map(figure => (
          <FigureView key={figure.id} figure={figure} figures={figures} />
        ))}
      </dl>
      {tracks.length === 0 ? null : <Tracks outcome={outcome} tracks={tracks} />}
      {sequences.map(sequence => (
        <SequenceView key={sequence.title} sequence={sequence} />
      ))}
      {chart === undefined ? null : <LineChart chart={chart} />}
    </>
  )
}

/** Renders text, with `parts in backticks` as code. */
function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, n) => (n % 2 === 0 ? part : <code key={part}>{part}</code>))}</>
}

function FigureView({ figure, figures }: { figure: Figure; figures: readonly Figure[] }) {
  const { id, label, value, unit, mark = '' } = figure
  const most = Math.max(...figures.filter(other => other.unit === unit).map(other => other.value))
  return (
    <div class={`figure ${mark}`}>
      <dt>{label}</dt>
      <dd aria-hidden="true">
        <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect width={most === 0 ? 0 : (100 * value) / most} height="10" rx="0.4" />
        </svg>
      </dd>
      <dd class="figure-value" data-figure={id}>
        {unit === undefined ? value : `${value} ${unit}`}
      </dd>
    </div>
  )
}

function Tracks({ outcome, tracks }: { outcome: Outcome; tracks: readonly Track[] }) {
  const { fromMs = 0, spanMs = 1000, period } = outcome
  const quarters = [0, 1, 2, 3, 4].map(n => seconds(fromMs + (n * spanMs) / 4))
  return (
    <>
      <p class="legend">
        <span class="served">served</span>
        <span class="refused">refused</span>
        {period === undefined ? null : <span class="period">{period.label}</span>}
      </p>
      {tracks.map(track => (
        <TrackView key={track.label} track={track} fromMs={fromMs} spanMs={spanMs} period={period} />
      ))}
      <div class="track" aria-hidden="true">
        <span />
        <p class="scale">
          {quarters.map(text => (
            <span key={text}>{text}</span>
          ))}
        </p>
      </div>
    </>
  )
}

/** How many columns a track has. A column stacks its requests: served ones above the line, refused ones below it. */
const COLUMNS = 200

interface TrackViewProps {
  track: Track
  fromMs: number
  spanMs: number
  period: Outcome['period']
}

function TrackView({ track, fromMs, spanMs, period }: TrackViewProps) {
  const served = Array.from({ length: COLUMNS }, () => 0)
  const refused = Array.from({ length: COLUMNS }, () => 0)
  const columnOf = (ms: number) => ((ms - fromMs) / spanMs) * COLUMNS
  for (const dot of track.dots) {
    const column = Math.min(COLUMNS - 1, Math.floor(columnOf(dot.at) + 1e-9))
    const rows = dot.served ? served : refused
    rows[column] = rows[column]! + 1
  }
  const tallest = Math.max(1, ...served, ...refused)
  const height = (count: number) => Math.max(4, (24 * count) / tallest)
  const total = track.dots.filter(dot => dot.served).length
  return (
    <div class="track">
      <div>
        <strong>{track.label}</strong>
        <p class="faint">{track.note}</p>
      </div>
      <svg viewBox={`0 0 ${COLUMNS} 54`} preserveAspectRatio="none" role="img">
        <title>{`${track.label}: ${total} served and ${track.dots.length - total} refused over ${spanMs / 1000} seconds`}</title>
        {period === undefined ? null : (
          <rect
            class="period"
            x={columnOf(period.fromMs)}
            width={columnOf(period.untilMs) - columnOf(period.fromMs)}
            y="0"
            height="54"
          />
        )}
        <line class="axis" x1="0" x2={COLUMNS} y1="27" y2="27" />
        {served.map((count, n) =>
          count === 0 ? null : (
            <rect key={n} class="dot-served" x={n + 0.1} width="0.8" y={26.5 - height(count)} height={height(count)} />
          ),
        )}
        {refused.map((count, n) =>
          count === 0 ? null : (
            <rect key={n} class="dot-refused" x={n + 0.1} width="0.8" y={27.5} height={height(count)} />
          ),
        )}
      </svg>
    </div>
  )
}

const SERVERS = [0, 1] as const

function SequenceView({ sequence: { title, steps } }: { sequence: Sequence }) {
  return (
    <table class="steps">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Server A</th>
          <th scope="col">Server B</th>
        </tr>
      </thead>
      <tbody>
        {steps.map(({ server, text, mark = '' }, n) => (
          <tr key={`${n} ${text}`}>
            <th scope="row">{n + 1}</th>
            {SERVERS.map(column => (
              <td key={column} class={column === server ? mark : ''}>
                {column === server ? text : ''}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
