import { addressOf, documentOf, MOST_CALLERS } from '../model/address.ts'
import {
  change,
  type Document,
  type History,
  newDocument,
  type Request,
  redo,
  SPANS_MS,
  startHistory,
  undo,
  withRequests,
} from '../model/document.ts'
import { Run } from '../model/run.ts'
import { PATTERNS } from '../model/traffic.ts'

/** How often numbers are updated while time runs: often enough to follow, seldom enough to read. */
const WORDS_EVERY_MS = 120

/** The simulation on the page: its document, its run up to now, and whether time is running. */
export class Player {
  playing = false
  speed = 1
  history: History
  run: Run
  /** The last action, for screen readers. */
  said = ''
  private frame = 0
  private lastFrame = 0
  private lastWords = 0
  private readonly draws = new Set<() => void>()
  private readonly words = new Set<() => void>()

  constructor(address: string) {
    this.history = startHistory(address === '' ? welcome() : documentOf(address))
    this.run = new Run(this.document)
    this.run.advanceTo(this.document.now)
  }

  get document(): Document {
    return this.history.present
  }

  get now(): number {
    return this.run.now
  }

  /** Opens a shared simulation, as a step that can be undone. */
  open(address: string): void {
    this.pause()
    this.edit(documentOf(address))
  }

  onDraw(draw: () => void): () => void {
    this.draws.add(draw)
    draw()
    return () => this.draws.delete(draw)
  }

  onWords(words: () => void): () => void {
    this.words.add(words)
    return () => this.words.delete(words)
  }

  /** Replaces the document; `merge` joins changes of one field into one step of undo. */
  edit(document: Document, said = '', merge = ''): void {
    this.history = change(this.history, document, merge)
    this.replay(said)
  }

  burst(n: number): void {
    const { caller, cost } = this.document
    const added = Array.from({ length: n }, () => ({ at: Math.round(this.now), caller, cost }))
    const now = Math.round(this.now)
    const before = [...this.run.lanes.values()].map(lane => lane.served)
    this.history = change(this.history, { ...withRequests(this.document, added), now })
    this.replay('')
    const told = [...this.run.lanes.values()].map((lane, i) => `${lane.kind} served ${lane.served - before[i]!}`)
    this.say(`Burst of ${n}: ${told.join(', ')}.`)
  }

  advance(ms: number): void {
    this.edit({ ...this.document, now: Math.round(this.now + ms) }, `Time advanced by ${ms / 1000} s.`)
  }

  place(at: number): void {
    const { caller, cost } = this.document
    this.edit(
      { ...withRequests(this.document, [{ at: Math.round(at), caller, cost }]), now: Math.round(this.now) },
      'Request placed.',
    )
  }

  traffic(id: string): void {
    const pattern = PATTERNS.find(one => one.id === id)
    if (pattern === undefined) return
    const { cost, callers: shown, caller } = this.document
    const callers = Math.min(MOST_CALLERS, shown)
    const requests = pattern
      .make(callers)
      .map(request => ({ ...request, cost }))
      .sort((a, b) => a.at - b.at)
    this.edit(
      { ...this.document, requests, callers, caller: Math.min(caller, callers - 1), names: [], now: 0 },
      `${pattern.title}: ${requests.length} requests.`,
    )
    this.play()
  }

  undo(): void {
    this.pause()
    this.history = undo(this.history)
    this.replay('Undone.')
  }

  redo(): void {
    this.pause()
    this.history = redo(this.history)
    this.replay('Done again.')
  }

  restart(): void {
    this.edit({ ...this.document, now: 0 }, 'Back at the start.')
  }

  clear(): void {
    this.pause()
    const { callers, caller } = this.document.names.length === 0 ? this.document : newDocument()
    this.edit({ ...this.document, requests: [], names: [], callers, caller, now: 0 }, 'Timeline cleared.')
  }

  play(): void {
    if (this.playing) return
    if (this.now >= this.endsAt) this.restart()
    this.playing = true
    this.lastFrame = performance.now()
    this.frame = requestAnimationFrame(time => this.tick(time))
    this.tell()
  }

  pause(): void {
    if (!this.playing) return
    this.playing = false
    cancelAnimationFrame(this.frame)
    this.keepTime()
    this.tell()
  }

  step(): void {
    this.pause()
    const next = this.run.requests[this.run.done]
    const now = next === undefined ? this.now + 1000 : next.at
    this.edit({ ...this.document, now: Math.round(now) }, 'One step.', 'step')
  }

  /** The address of the simulation: all of its document except an imported log. */
  address(): string {
    return addressOf({ ...this.document, now: Math.round(this.now) })
  }

  /** Makes a log the timeline, and shows as much of it at once as possible. */
  import(requests: readonly Request[], names: readonly string[]): void {
    this.pause()
    const lengthMs = requests.at(-1)!.at
    const spanMs = SPANS_MS.find(span => span >= lengthMs) ?? SPANS_MS.at(-1)!
    this.edit(
      { ...this.document, requests, names, callers: names.length, caller: 0, now: 0, spanMs },
      `${requests.length} requests imported.`,
    )
  }

  /**
   * How many seconds of the timeline pass in one second: in longer views more, so that the picture moves equally fast.
   */
  get pace(): number {
    return (this.speed * this.document.spanMs) / SPANS_MS[0]!
  }

  draw(): void {
    for (const draw of this.draws) draw()
  }

  say(text: string): void {
    this.said = text
    this.tell()
  }

  /** Whether all requests have left the view and none will come, so that the picture no longer changes. */
  private get endsAt(): number {
    const { requests, spanMs } = this.document
    return (requests.at(-1)?.at ?? Number.POSITIVE_INFINITY) + spanMs
  }

  private replay(said: string): void {
    this.run = new Run(this.document)
    this.run.advanceTo(this.document.now)
    this.said = said
    this.tell()
    this.draw()
  }

  /** Running time is not an undo step: undo returns to the user's last action. */
  private keepTime(): void {
    this.history = { ...this.history, present: { ...this.document, now: Math.round(this.now) } }
  }

  private tick(time: number): void {
    const passed = Math.min(100, Math.max(0, time - this.lastFrame)) * this.pace
    this.lastFrame = time
    this.run.advanceTo(this.now + passed)
    this.draw()
    if (this.now >= this.endsAt) {
      this.pause()
      return
    }
    if (time - this.lastWords > WORDS_EVERY_MS) {
      this.lastWords = time
      this.tell()
    }
    if (this.playing) this.frame = requestAnimationFrame(next => this.tick(next))
  }

  private tell(): void {
    for (const words of this.words) words()
  }
}

/** The simulation of the first visit: a pattern that shows how the algorithms differ. */
function welcome(): Document {
  const fresh = documentOf('')
  const requests = PATTERNS.find(({ id }) => id === 'bursty')!
    .make(1)
    .sort((a, b) => a.at - b.at)
  return { ...fresh, requests }
}
