import type { FakeClock } from 'sluice/testing'

/** Lets time pass in steps, so that calls which become due start. */
export async function passTime(clock: FakeClock, ms: number, stepMs: number): Promise<void> {
  for (let at = 0; at <= ms; at += stepMs) {
    for (let i = 0; i < 40; i++) await Promise.resolve()
    clock.advance(at < ms ? stepMs : 0)
  }
}
