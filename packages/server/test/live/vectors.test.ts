import type { FlagSetDefinition, SegmentDefinition } from '@ff/core'
import type { DefinitionChange } from '@ff/storage'
import { describe, expect, it } from 'vitest'
import { loadVectorFiles, nowOf } from '../../../core/test/vector-files.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { evaluate, evaluateOverOfrep, poll } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { addSdkKey, OCCASION, publish, seed } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'

/**
 * `broken.json` is left out, because it contains definitions that no write accepts and that a
 * server refuses.
 */
const files = loadVectorFiles().filter(([name]) => name !== 'broken.json')

describe.each(files)('%s over every transport', (_name, file) => {
  it.each(file.cases.map((vector) => [vector.name, vector] as const))(
    'The case "%s" has the expected values over every transport',
    async (_case, vector) => {
      const { flags, sdkKey, environmentId } = await serve(file.flagSet, nowOf(file, vector))
      const { context } = vector
      const expected = sortedText(
        vector.expect ?? (await flags.allOrThrow({ environmentId }, context)),
      )
      expect(sortedText((await evaluate(flags, sdkKey, context)).body)).toBe(expected)
      // OFREP answers a broken flag with an error in place of its value.
      const overOfrep = await evaluateOverOfrep(flags, sdkKey, context)
      const others = Object.fromEntries(JSON.parse(expected))
      expect(sortedText({ ...others, ...overOfrep })).toBe(expected)
      // A poll with an unknown `since` receives an immediate reply.
      expect(sortedText((await poll(flags, sdkKey, { context, since: 'none' })).body)).toBe(
        expected,
      )
      const socket = new TestSocket()
      const connection = flags.acceptSocket(socket)
      connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
      await until(() => socket.messages.length > 0)
      const [message] = socket.messages
      expect(sortedText(message?.type === 'flags' ? message.flags : message)).toBe(expected)
      await flags.close()
    },
  )

  it('A socket receives the expected values when the flags of the file are published', async () => {
    const [vector] = file.cases
    if (vector?.expect === undefined)
      throw new Error('The first case of a file must have expected values')
    const now = nowOf(file, vector)
    const { flags, memory, sdkKey, environmentId } = await serve(undefined, now)
    const { context } = vector
    const socket = new TestSocket()
    const connection = flags.acceptSocket(socket)
    connection.receive(JSON.stringify({ type: 'init', sdkKey, context }))
    await until(() => socket.messages.length > 0)
    await publish(memory, environmentId, ...changesOf(file.flagSet))
    await until(() => socket.messages.length > 1)
    const [before, after] = socket.messages
    expect(before).toMatchObject({ flags: {}, full: true })
    expect(after).toMatchObject({ full: false })
    expect(sortedText(after?.type === 'flags' ? after.flags : after)).toBe(
      sortedText(vector.expect),
    )
    await flags.close()
  })
})

async function serve(flagSet: FlagSetDefinition | undefined, now: number) {
  const memory = allInMemory()
  const { live } = await seed(memory.storage)
  const { environmentId } = live
  const { sdkKey } = await addSdkKey(memory.storage, live)
  if (flagSet !== undefined)
    await memory.storage.publish(environmentId, changesOf(flagSet), OCCASION)
  const flags = createFlagServer({ ...memory, clock: new FakeClock(now) })
  return { flags, memory, sdkKey, environmentId }
}

function changesOf({ flags, segments }: FlagSetDefinition): DefinitionChange[] {
  return [
    ...segments.flatMap(segmentChanges),
    ...flags.map((definition) => ({ kind: 'flag', id: definition.id, definition }) as const),
  ]
}

function segmentChanges({
  included,
  excluded,
  ...definition
}: SegmentDefinition): DefinitionChange[] {
  const segmentId = definition.id
  const listed = { kind: 'segmentKeys', segmentId, removed: [] } as const
  return [
    { kind: 'segment', id: segmentId, definition },
    ...(included.length === 0 ? [] : [{ ...listed, list: 'included' as const, added: included }]),
    ...(excluded.length === 0 ? [] : [{ ...listed, list: 'excluded' as const, added: excluded }]),
  ]
}

/** Returns values as sorted text. They are compared as text, because a key may be `__proto__`. */
function sortedText(values: unknown): string {
  const entries = Object.entries(values as object)
  return JSON.stringify(
    entries.sort(([left], [right]) => (left < right ? -1 : 1)),
    null,
    1,
  )
}
