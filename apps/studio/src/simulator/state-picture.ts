import type { LimitInspection } from 'sluice'
import { type LaneKind, limitOf } from '../model/policies.ts'
import { decimal, seconds } from '../model/reason.ts'
import type { Ink } from './ink.ts'

type Context = CanvasRenderingContext2D

/** Draws the state of one key and nothing else. If one more request would be refused, the edge is coloured. */
export function drawState(
  g: Context,
  width: number,
  height: number,
  kind: LaneKind,
  found: LimitInspection,
  ink: Ink,
): void {
  const { state, policy } = found
  const limit = Math.max(1, limitOf(policy))
  const edge = found.remaining < 1 ? ink.refused : ink.line
  switch (state.kind) {
    case 'bucket':
      if (kind === 'gcra') drawArrival(g, width, height, found, state.tat, ink)
      else if (kind === 'shaping') drawQueue(g, width, height, state.level, limit, edge, ink)
      else drawBucket(g, width, height, kind === 'tokenBucket' ? state.tokens : state.level, limit, kind, edge, ink)
      break
    case 'fixedWindow':
      drawWindow(g, width, height, state, found.at, limit, edge, ink)
      break
    case 'slidingWindow':
      drawCounters(g, width, height, state.counters, found, limit, edge, ink)
      break
    case 'slidingLog':
      drawLog(g, width, height, state.times, found, edge, ink)
      break
    case 'concurrency':
      drawSlots(g, width, height, state.slots, found, limit, edge, ink)
      break
  }
}

/** The same state in words, for screen readers. */
export function wordsOf(kind: LaneKind, { state, policy, at, used, remaining }: LimitInspection): string {
  const limit = limitOf(policy)
  switch (state.kind) {
    case 'bucket':
      if (kind === 'tokenBucket') return `${decimal(state.tokens)} of ${limit} tokens`
      if (kind === 'gcra') return `${seconds(Math.max(0, state.tat - at))} ahead, ${remaining} may pass`
      if (kind === 'shaping') return `${Math.ceil(state.level)} of ${limit} in the queue`
      return `level ${decimal(state.level)} of ${limit}`
    case 'fixedWindow':
      return `${state.count} of ${limit}, ends in ${seconds(Math.max(0, state.endsAt - at))}`
    case 'slidingWindow':
      if (state.counters.length > 2) return `${decimal(used)} of ${limit} in ${state.counters.length} counters`
      return `${state.counters.map(({ count, weight }) => `${count} × ${decimal(weight)}`).join(' + ')} of ${limit}`
    case 'slidingLog':
      return `${state.times.length} of ${limit} remembered`
    case 'concurrency':
      return `${used} of ${limit} slots taken`
  }
}

function box(g: Context, x: number, y: number, w: number, h: number, radius: number): void {
  g.beginPath()
  g.roundRect(x, y, Math.max(0, w), Math.max(0, h), radius)
}

function drawBucket(
  g: Context,
  width: number,
  height: number,
  held: number,
  limit: number,
  kind: LaneKind,
  edge: string,
  ink: Ink,
): void {
  const w = Math.min(150, width - 24)
  const x = (width - w) / 2
  const top = 6
  const h = height - 20
  const filled = Math.min(1, held / limit) * h
  g.save()
  box(g, x, top, w, h, 8)
  g.fillStyle = ink.well
  g.fill()
  g.clip()
  g.fillStyle = kind === 'tokenBucket' ? ink.served : ink.water
  if (kind === 'tokenBucket' && limit <= 40) {
    const columns = Math.ceil(Math.sqrt(limit * (w / h)))
    const rows = Math.ceil(limit / columns)
    const cell = Math.min(w / columns, h / rows)
    for (let n = 0; n < Math.ceil(held); n++) {
      const part = Math.min(1, held - n)
      const cx = x + (w - columns * cell) / 2 + ((n % columns) + 0.5) * cell
      const cy = top + h - (Math.floor(n / columns) + 0.5) * cell
      g.globalAlpha = part < 1 ? 0.25 + part * 0.4 : 1
      g.beginPath()
      g.arc(cx, cy, cell * 0.38 * Math.sqrt(part), 0, Math.PI * 2)
      g.fill()
    }
    g.globalAlpha = 1
  } else g.fillRect(x, top + h - filled, w, filled)
  g.restore()
  g.strokeStyle = edge
  g.lineWidth = 2
  box(g, x, top, w, h, 8)
  g.stroke()
  if (kind !== 'tokenBucket' && held > 0) {
    g.fillStyle = ink.water
    g.fillRect(width / 2 - 1.5, top + h, 3, 10)
  }
}

function drawQueue(
  g: Context,
  width: number,
  height: number,
  level: number,
  limit: number,
  edge: string,
  ink: Ink,
): void {
  const places = Math.min(limit, 24)
  const gap = 3
  const left = 10
  const door = width - 34
  const w = (door - left - 4) / places
  const y = height / 2 - 20
  const h = 40
  g.strokeStyle = edge
  g.lineWidth = 2
  box(g, left - 4, y - 4, door - left + 4, h + 8, 6)
  g.stroke()
  for (let n = 0; n < places; n++) {
    // The place at the exit is the last one. Its request is partly through.
    const x = left + (places - 1 - n) * w
    box(g, x, y, w - gap, h, 3)
    g.fillStyle = ink.well
    g.fill()
    const part = Math.min(1, Math.max(0, level - n))
    if (part === 0) continue
    g.fillStyle = n === 0 ? ink.served : ink.water
    box(g, x, y + h * (1 - part), w - gap, h * part, 3)
    g.fill()
  }
  g.fillStyle = ink.text
  g.fillRect(door - 1, y - 8, 2, h + 16)
  g.fillStyle = ink.faint
  g.fillText('out', door + 8, height / 2 + 4)
}

function drawArrival(g: Context, width: number, height: number, found: LimitInspection, tat: number, ink: Ink): void {
  const { policy, at } = found
  if (policy.kind !== 'gcra') return
  const span = (policy.burst * policy.rate.periodMs) / policy.rate.count
  const x = (ms: number) => 20 + ((width - 40) * ms) / span
  const y = height / 2
  const ahead = Math.max(0, tat - at)
  g.fillStyle = ink.well
  box(g, 20, y - 10, width - 40, 20, 4)
  g.fill()
  g.fillStyle = ink.water
  box(g, 20, y - 10, x(Math.min(span, ahead)) - 20, 20, 4)
  g.fill()
  g.strokeStyle = ink.line
  g.lineWidth = 1
  for (let n = 1; n < Math.min(60, policy.burst); n++) {
    g.beginPath()
    g.moveTo(x((n * span) / policy.burst), y - 10)
    g.lineTo(x((n * span) / policy.burst), y + 10)
    g.stroke()
  }
  mark(g, 20, y, 'now', ink.text)
  mark(g, x(Math.min(span, ahead)), y, 'TAT', ink.served)
  g.fillStyle = ink.faint
  g.textAlign = 'right'
  g.fillText('burst', width - 20, y + 30)
  g.textAlign = 'left'
}

function mark(g: Context, x: number, y: number, text: string, color: string): void {
  g.fillStyle = color
  g.fillRect(x - 1, y - 18, 2, 36)
  g.textAlign = 'center'
  g.fillText(text, Math.max(14, x), y - 24)
  g.textAlign = 'left'
}

function drawWindow(
  g: Context,
  width: number,
  height: number,
  state: { count: number; startsAt: number; endsAt: number },
  at: number,
  limit: number,
  edge: string,
  ink: Ink,
): void {
  const w = width - 24
  const h = height - 34
  g.fillStyle = ink.well
  box(g, 12, 8, w, h, 6)
  g.fill()
  const filled = Math.min(1, state.count / limit) * h
  g.fillStyle = ink.served
  box(g, 12, 8 + h - filled, w, filled, 6)
  g.fill()
  g.strokeStyle = edge
  g.lineWidth = 2
  box(g, 12, 8, w, h, 6)
  g.stroke()
  const x = 12 + (w * (at - state.startsAt)) / Math.max(1, state.endsAt - state.startsAt)
  g.fillStyle = ink.text
  g.fillRect(x - 1, 4, 2, h + 8)
  g.fillStyle = ink.faint
  g.fillText('start', 12, height - 8)
  g.textAlign = 'right'
  g.fillText('reset', width - 12, height - 8)
  g.textAlign = 'left'
}

function drawCounters(
  g: Context,
  width: number,
  height: number,
  counters: readonly { startsAt: number; endsAt: number; count: number; weight: number }[],
  { at, policy }: LimitInspection,
  limit: number,
  edge: string,
  ink: Ink,
): void {
  const windowMs = 'windowMs' in policy ? policy.windowMs : 1
  const from = counters[0]?.startsAt ?? at - windowMs
  const until = counters.at(-1)?.endsAt ?? at
  const x = (ms: number) => 14 + ((width - 28) * (ms - from)) / Math.max(1, until - from)
  const h = height - 34
  const most = Math.max(limit, ...counters.map(({ count }) => count))
  for (const { startsAt, endsAt, count, weight } of counters) {
    const left = x(startsAt) + 1
    const w = x(endsAt) - x(startsAt) - 2
    g.fillStyle = ink.well
    box(g, left, 8, w, h, 4)
    g.fill()
    const full = (count / most) * h
    g.fillStyle = ink.line
    box(g, left, 8 + h - full, w, full, 4)
    g.fill()
    g.fillStyle = ink.served
    box(g, left, 8 + h - full * weight, w, full * weight, 4)
    g.fill()
  }
  g.fillStyle = ink.faint
  g.fillText('before', 12, height - 8)
  g.textAlign = 'right'
  g.fillText('current', width - 12, height - 8)
  g.textAlign = 'left'
  // The sliding frame: the window that ends now.
  g.strokeStyle = edge === ink.line ? ink.text : edge
  g.lineWidth = 2
  box(g, x(at - windowMs), 4, x(at) - x(at - windowMs), h + 8, 6)
  g.stroke()
}

/** The size of a dot in pixels, and how many dots are stacked at most. */
const DOT = 4.6
const DOT_ROWS = 9

function drawLog(
  g: Context,
  width: number,
  height: number,
  times: readonly number[],
  { at, policy }: LimitInspection,
  edge: string,
  ink: Ink,
): void {
  const windowMs = 'windowMs' in policy ? policy.windowMs : 1
  const y = height / 2 - 4
  const x = (ms: number) => 12 + ((width - 24) * (ms - (at - windowMs))) / windowMs
  g.fillStyle = ink.well
  g.strokeStyle = edge
  g.lineWidth = 2
  box(g, 12, y - 24, width - 24, 48, 6)
  g.fill()
  g.stroke()
  g.fillStyle = ink.served
  const shown = times.slice(-400)
  let row = -1
  let last = Number.NEGATIVE_INFINITY
  for (const time of shown) {
    // Dots of one moment are stacked, so that a burst is visible as one.
    row = x(time) - last < DOT ? (row + 1) % DOT_ROWS : 0
    if (row === 0) last = x(time)
    g.globalAlpha = 0.35 + 0.65 * Math.max(0, 1 - (at - time) / windowMs)
    g.beginPath()
    g.arc(x(time), y + 19 - row * DOT, DOT / 2 - 0.2, 0, Math.PI * 2)
    g.fill()
  }
  g.globalAlpha = 1
  g.fillStyle = ink.faint
  g.fillText('forgotten', 12, height - 8)
  g.textAlign = 'right'
  g.fillText('now', width - 12, height - 8)
  g.textAlign = 'left'
}

function drawSlots(
  g: Context,
  width: number,
  height: number,
  slots: readonly { cost: number; expiresAt: number }[],
  { at, policy }: LimitInspection,
  limit: number,
  edge: string,
  ink: Ink,
): void {
  const ttlMs = 'ttlMs' in policy ? policy.ttlMs : 1
  const places = Math.min(limit, 32)
  const columns = Math.min(places, 8)
  const size = Math.min(40, (width - 40) / columns, (height - 16) / Math.ceil(places / columns))
  const taken = slots.flatMap(slot => Array.from({ length: Math.min(places, slot.cost) }, () => slot))
  for (let n = 0; n < places; n++) {
    const cx = (width - columns * size) / 2 + ((n % columns) + 0.5) * size
    const cy =
      8 + (Math.floor(n / columns) + 0.5) * size + Math.max(0, (height - 16 - Math.ceil(places / columns) * size) / 2)
    const slot = taken[n]
    g.fillStyle = slot === undefined ? ink.well : ink.served
    g.beginPath()
    g.arc(cx, cy, size * 0.36, 0, Math.PI * 2)
    g.fill()
    if (slot === undefined) continue
    g.strokeStyle = edge === ink.line ? ink.text : edge
    g.lineWidth = 2
    g.beginPath()
    g.arc(cx, cy, size * 0.44, -Math.PI / 2, -Math.PI / 2 + Math.PI * 2 * Math.max(0, (slot.expiresAt - at) / ttlMs))
    g.stroke()
  }
}
