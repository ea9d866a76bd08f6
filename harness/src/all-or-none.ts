/** Starts several things at once. If one of them fails, the others are stopped. */
export async function allOrNone<T extends { stop(): Promise<void> }>(starting: readonly Promise<T>[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(starting)
  const started = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const failure = outcomes.find(outcome => outcome.status === 'rejected')
  if (failure === undefined) return started
  await stopAll(started)
  throw failure.reason
}

export async function stopAll(things: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(things.map(thing => thing.stop()))
}
