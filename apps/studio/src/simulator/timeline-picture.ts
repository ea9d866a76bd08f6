import type { Request } from '../model/document.ts'
import { seconds } from '../model/reason.ts'
import { type LaneRun, SERVED } from '../model/run.ts'
import type { Ink } from './ink.ts'

/** The visible part of time. */
export interface View {
  readonly from: number
  readonly until: number
}

/** Now is at two thirds of the width, so that past and coming requests are visible. */
export function viewAt(now: number, spanMs: number): View {
  const from = Math.max(0, now - (spanMs * 2) / 3)
  return { from, until: from + spanMs }
}

/** The first request at `ms` or later. */
function firstAt(requests: readonly Request[], ms: number): number {
  let low = 0
  let high = requests.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (requests[middle]!.at < ms) low = middle + 1
    else high = middle
  }
  return low
}

/** The width of a bin in pixels: bars of single pixels look like noise. */
const BIN = 3

/** A lane's requests: bars up for served ones, bars down for refused ones, as long as their number. */
export function drawOutcomes(
  g: CanvasRenderingContext2D,
  width: number,
  height: number,
  lane: LaneRun,
  requests: readonly Request[],
  done: number,
  view: View,
  now: number,
  ink: Ink,
): void {
  const bins = Math.ceil(width / BIN)
  const up = new Float32Array(bins)
  const down = new Float32Array(bins)
  const perMs = width / (view.until - view.from)
  // A queued request starts later than it came, at most a full queue later: look that far back.
  const back = firstAt(requests, view.from - lane.queueMs)
  let tallest = 4
  for (let n = back; n < done; n++) {
    const bin = Math.floor(((lane.starts[n]! - view.from) * perMs) / BIN)
    if (bin < 0 || bin >= bins) continue
    const rows = lane.outcomes[n] === SERVED ? up : down
    rows[bin] = rows[bin]! + requests[n]!.cost
    tallest = Math.max(tallest, rows[bin]!)
  }
  const middle = (height - SCALE_HEIGHT) / 2
  const unit = Math.min(7, (middle - 4) / tallest)
  g.fillStyle = ink.line
  g.fillRect(0, middle - 0.5, width, 1)
  g.fillStyle = ink.served
  for (let bin = 0; bin < bins; bin++) {
    if (up[bin]! > 0) g.fillRect(bin * BIN, middle - 1 - up[bin]! * unit, BIN - 0.5, up[bin]! * unit)
  }
  g.fillStyle = ink.refused
  for (let bin = 0; bin < bins; bin++) {
    if (down[bin]! > 0) g.fillRect(bin * BIN, middle + 1, BIN - 0.5, down[bin]! * unit)
  }
  drawScale(g, width, height, view, ink)
  drawNow(g, width, height - SCALE_HEIGHT, view, now, ink)
}

/** The requests themselves, past and coming. */
export function drawRequests(
  g: CanvasRenderingContext2D,
  width: number,
  height: number,
  requests: readonly Request[],
  view: View,
  now: number,
  callerInks: readonly string[],
  ink: Ink,
): void {
  const perMs = width / (view.until - view.from)
  const bins = new Float32Array(Math.ceil(width / BIN) + 1)
  const first = firstAt(requests, view.from)
  const binOf = (at: number) => Math.floor(((at - view.from) * perMs) / BIN)
  let tallest = 1
  for (let n = first; n < requests.length && requests[n]!.at <= view.until; n++) {
    const bin = binOf(requests[n]!.at)
    bins[bin] = bins[bin]! + 1
    tallest = Math.max(tallest, bins[bin]!)
  }
  bins.fill(0)
  // Many requests are drawn closer, so that the column is as tall as their number.
  const rise = Math.min(6, (height - SCALE_HEIGHT - 9) / tallest)
  for (let n = first; n < requests.length && requests[n]!.at <= view.until; n++) {
    const { at, cost, caller } = requests[n]!
    const bin = binOf(at)
    const y = height - SCALE_HEIGHT - 5 - bins[bin]! * rise
    bins[bin] = bins[bin]! + 1
    g.globalAlpha = at <= now ? 1 : 0.4
    g.fillStyle = callerInks[caller % callerInks.length]!
    g.beginPath()
    g.arc(bin * BIN, y, Math.min(6, 2.2 + cost * 0.6), 0, Math.PI * 2)
    g.fill()
  }
  g.globalAlpha = 1
  drawScale(g, width, height, view, ink)
  drawNow(g, width, height - SCALE_HEIGHT, view, now, ink)
}

/** The time axis: its height, the space between two labels, and the steps to choose from. */
const SCALE_HEIGHT = 16
const PIXELS_A_STEP = 64
const STEPS_MS = [1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000].concat([
  21_600_000, 43_200_000, 86_400_000, 172_800_000,
])

function drawScale(g: CanvasRenderingContext2D, width: number, height: number, view: View, ink: Ink): void {
  const span = view.until - view.from
  const step = STEPS_MS.find(ms => span / ms <= width / PIXELS_A_STEP) ?? span / 2
  g.fillStyle = ink.faint
  g.textAlign = 'center'
  for (let ms = Math.ceil(view.from / step) * step; ms <= view.until; ms += step) {
    const x = ((ms - view.from) * width) / span
    g.fillRect(x, height - SCALE_HEIGHT + 1, 1, 3)
    if (x > 16 && x < width - 16) g.fillText(seconds(ms), x, height - 1)
  }
  g.textAlign = 'left'
}

function drawNow(g: CanvasRenderingContext2D, width: number, height: number, view: View, now: number, ink: Ink): void {
  const x = ((now - view.from) * width) / (view.until - view.from)
  g.fillStyle = ink.text
  g.fillRect(x - 0.75, 0, 1.5, height)
}
