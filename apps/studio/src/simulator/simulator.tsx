import { useEffect, useReducer, useRef } from 'preact/hooks'
import { nameOfCaller } from '../model/document.ts'
import { ALGORITHMS } from '../model/policies.ts'
import { seconds } from '../model/reason.ts'
import { Controls } from './controls.tsx'
import { freshContext, inkOf } from './ink.ts'
import { LaneCard } from './lane.tsx'
import type { Player } from './player.ts'
import { drawRequests, viewAt } from './timeline-picture.ts'

const CALLER_INKS = [
  '--caller-0',
  '--caller-1',
  '--caller-2',
  '--caller-3',
  '--caller-4',
  '--caller-5',
  '--caller-6',
  '--caller-7',
]

export default function Simulator({ player }: { player: Player }) {
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => player.onWords(() => redraw(undefined)), [player])
  useEffect(() => {
    const resized = () => player.draw()
    window.addEventListener('resize', resized)
    return () => window.removeEventListener('resize', resized)
  }, [player])
  const { lanes } = player.document
  const toggle = (kind: string) => {
    const changed = lanes.map(lane => (lane.kind === kind ? { ...lane, shown: !lane.shown } : lane))
    player.edit({ ...player.document, lanes: changed, now: Math.round(player.now) })
  }
  return (
    <div class="simulator">
      <h1 class="unseen">Simulator</h1>
      <Controls player={player} />
      <Timeline player={player} />
      <fieldset class="chips">
        <legend class="unseen">Algorithms shown</legend>
        {lanes.map(lane => (
          <label key={lane.kind} class="chip">
            <input type="checkbox" checked={lane.shown} onChange={() => toggle(lane.kind)} />
            {ALGORITHMS[lane.kind].title}
          </label>
        ))}
      </fieldset>
      <p class="legend">
        <span class="served">served, above the line</span>
        <span class="refused">refused, below it</span>
        <span class="full">an edge of this colour: one more would be refused</span>
      </p>
      <div class="lanes">
        {lanes
          .filter(lane => lane.shown)
          .map(lane => (
            <LaneCard key={lane.kind} lane={lane} player={player} />
          ))}
      </div>
      <p class="unseen" role="status" data-said>
        {player.said}
      </p>
    </div>
  )
}

/** Where requests are placed: a click, or the arrow keys and Enter. */
function Timeline({ player }: { player: Player }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(
    () =>
      player.onDraw(() => {
        const g = canvas.current === null ? undefined : freshContext(canvas.current)
        if (g === undefined) return
        const { clientWidth, clientHeight } = canvas.current!
        const style = getComputedStyle(document.documentElement)
        const inks = callerInks(style)
        const { requests, now } = player.run
        drawRequests(g, clientWidth, clientHeight, requests, viewAt(now, player.document.spanMs), now, inks, inkOf())
      }),
    [player],
  )
  const place = (event: MouseEvent) => {
    const { left, width } = canvas.current!.getBoundingClientRect()
    const { from, until } = viewAt(player.now, player.document.spanMs)
    // A key press has no position, so it means now.
    player.place(event.detail === 0 ? player.now : from + ((event.clientX - left) / width) * (until - from))
  }
  const { requests } = player.document
  return (
    <button type="button" class="timeline" onClick={place} data-timeline>
      <span class="unseen">
        {`Timeline: ${requests.length} requests, now at ${seconds(player.now)}. Click to place a request of ${nameOfCaller(player.document, player.document.caller)}; Enter places one now.`}
      </span>
      <canvas ref={canvas} />
    </button>
  )
}

let inks: { theme: string; colors: string[] } | undefined

function callerInks(style: CSSStyleDeclaration): readonly string[] {
  const theme = style.getPropertyValue('--paper')
  if (inks?.theme !== theme) inks = { theme, colors: CALLER_INKS.map(name => style.getPropertyValue(name).trim()) }
  return inks.colors
}
