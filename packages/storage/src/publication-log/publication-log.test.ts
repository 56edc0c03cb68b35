import { describe, expect, it } from 'vitest'
import { keysChange } from '../contract/samples/fixtures.ts'
import { runToEnd } from '../runtime/time-slice.ts'
import { type LogEntry, newEntries } from './publication-log.ts'

const LIST_LENGTH = 5_000

/** Publishes a list of keys and then adds one key per version. */
function publishOneByOne(rounds: number): { entries: LogEntry[]; longestRead: number } {
  const keys = Array.from({ length: LIST_LENGTH }, (_, index) => `user-${index}`)
  const first = { version: 1, changes: [keysChange('s', { added: keys })], present: () => [] }
  const entries = [...runToEnd(newEntries(first))]
  let state = entries
  let longestRead = 0
  for (let round = 0; round < rounds; round += 1) {
    const change = keysChange('s', { added: [`late-${round}`] })
    const next = { version: round + 2, changes: [change], present: () => state }
    const added = runToEnd(newEntries(next))
    entries.push(...added)
    const base = added[0]?.baseVersion ?? 0
    state = [...state, ...added].filter(({ version }) => version >= base)
    longestRead = Math.max(longestRead, state.length)
  }
  return { entries, longestRead }
}

describe('the log of listed keys', () => {
  it('A complete list of keys is written again only if its differences cost more to read than the list', () => {
    const { entries, longestRead } = publishOneByOne(500)
    const checkpoints = entries.filter(({ version, baseVersion }) => version === baseVersion)
    expect(checkpoints.map(({ version }) => version)).toEqual([1, 239, 489])
    expect(longestRead).toBeLessThan(300)
    const differences = entries.filter(({ version, baseVersion }) => version !== baseVersion)
    const longest = Math.max(...differences.map(({ body }) => body?.length ?? 0))
    expect(longest).toBeLessThan(100)
  })
})
