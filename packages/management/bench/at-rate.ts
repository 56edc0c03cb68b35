/**
 * Starts work at a constant rate, also while earlier work is running. Resolves with the results when
 * all calls have ended.
 */
export async function atRate<Result>(
  { aSecond, seconds }: { readonly aSecond: number; readonly seconds: number },
  work: (turn: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const begun = performance.now()
  const all: Promise<Result>[] = []
  for (let turn = 0; turn < aSecond * seconds; turn += 1) {
    const wait = begun + (turn * 1000) / aSecond - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    all.push(work(turn))
  }
  return Promise.all(all)
}
