import { useEffect, useState } from 'preact/hooks'
import { LineChart } from './chart.tsx'
import { SCENES } from './list.ts'
import type { Outcome, Scene, Track } from './scene.ts'

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
              <span class="faint">{question}</span>
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
      <p class="lead">{scene.text}</p>
      <fieldset class="answers">
        <legend>{scene.question}</legend>
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
      <p>
        Next: <a href={`#/scenes/${next.id}`}>{next.title}</a>
      </p>
    </article>
  )
}

function OutcomeView({ outcome }: { outcome: Outcome }) {
  const { figures, tracks = [], steps, chart, conclusion, fromMs = 0, spanMs = 1000 } = outcome
  return (
    <>
      <p data-conclusion>{conclusion}</p>
      <dl class="figures">
        {figures.map(({ id, label, value, mark = '' }) => (
          <div key={id} class={`figure ${mark}`}>
            <dt>{label}</dt>
            <dd class="figure-value" data-figure={id}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {tracks.length === 0 ? null : (
        <p class="legend">
          <span class="served">served</span>
          <span class="refused">refused</span>
        </p>
      )}
      {tracks.map(track => (
        <TrackView key={track.label} track={track} fromMs={fromMs} spanMs={spanMs} />
      ))}
      {steps === undefined ? null : <Steps steps={steps} />}
      {chart === undefined ? null : <LineChart chart={chart} />}
    </>
  )
}

/** A column of dots for what falls into one place: served above the line, refused below it. */
const COLUMNS = 120

function TrackView({ track, fromMs, spanMs }: { track: Track; fromMs: number; spanMs: number }) {
  const served = Array.from({ length: COLUMNS + 1 }, () => 0)
  const refused = Array.from({ length: COLUMNS + 1 }, () => 0)
  for (const dot of track.dots) {
    const column = Math.min(COLUMNS, Math.round(((dot.at - fromMs) / spanMs) * COLUMNS))
    const rows = dot.served ? served : refused
    rows[column] = rows[column]! + 1
  }
  const tallest = Math.max(1, ...served, ...refused)
  const height = (count: number) => Math.max(2, (22 * count) / tallest)
  const total = track.dots.filter(dot => dot.served).length
  return (
    <div class="track">
      <div>
        <strong>{track.label}</strong>
        <p class="faint">{track.note}</p>
      </div>
      <svg viewBox={`0 0 ${COLUMNS * 6 + 6} 54`} preserveAspectRatio="none" role="img">
        <title>{`${track.label}: ${total} served and ${track.dots.length - total} refused over ${spanMs / 1000} seconds`}</title>
        <line class="axis" x1="0" x2={COLUMNS * 6 + 6} y1="27" y2="27" />
        {served.map((count, n) =>
          count === 0 ? null : (
            <rect key={n} class="dot-served" x={n * 6} width="4" y={26 - height(count)} height={height(count)} />
          ),
        )}
        {refused.map((count, n) =>
          count === 0 ? null : <rect key={n} class="dot-refused" x={n * 6} width="4" y={28} height={height(count)} />,
        )}
      </svg>
    </div>
  )
}

function Steps({ steps }: { steps: NonNullable<Outcome['steps']> }) {
  return (
    <table class="steps">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Server A</th>
          <th scope="col">Server B</th>
        </tr>
      </thead>
      <tbody>
        {steps.map(([step, a, b]) => (
          <tr key={step}>
            <th scope="row">both: {step}</th>
            <td>{a}</td>
            <td>{b}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
