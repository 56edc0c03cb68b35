import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import type { DefinitionChange } from '../ports/publications.ts'
import type { Storage } from '../ports/storage.ts'
import {
  AT,
  type Command,
  command,
  environment,
  id,
  key,
  nullable,
  optional,
  type SessionCommand,
} from './commands/model-values.ts'
import { KINDS, recordCommands } from './commands/record-commands.ts'
import { usageCommands } from './commands/usage-commands.ts'
import { withSortedKeys } from './mergeable.ts'
import { flagDefinition, publishedSegment } from './samples/fixtures.ts'

const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'ключ', ''), { maxLength: 4 })

const flagChange: fc.Arbitrary<DefinitionChange> = fc
  .tuple(id, nullable(fc.tuple(key, fc.boolean())))
  .map(([own, state]) => ({
    kind: 'flag',
    id: own,
    definition: state && flagDefinition({ id: own, key: state[0], isActive: state[1] }),
  }))

const segmentChange: fc.Arbitrary<DefinitionChange> = fc
  .tuple(id, nullable(key))
  .map(([own, name]) => ({
    kind: 'segment',
    id: own,
    definition: name === null ? null : publishedSegment({ id: own, key: name }),
  }))

const manyKeys = fc
  .integer({ min: 1, max: 1500 })
  .map((count) => Array.from({ length: count }, (_, index) => `user-${index}`))

const keysChange: fc.Arbitrary<DefinitionChange> = fc.record({
  kind: fc.constant('segmentKeys' as const),
  segmentId: id,
  list: fc.constantFrom('included' as const, 'excluded' as const),
  added: fc.oneof({ weight: 4, arbitrary: keys }, { weight: 1, arbitrary: manyKeys }),
  removed: fc.oneof({ weight: 4, arbitrary: keys }, { weight: 1, arbitrary: manyKeys }),
})

const version = fc.integer({ min: -1, max: 12 })

const publicationCommands: fc.Arbitrary<SessionCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        environment,
        fc.array(fc.oneof(flagChange, segmentChange, keysChange), { maxLength: 4 }),
      )
      .map(([own, changes]) =>
        command('publish', { own, changes }, (session) =>
          session.publish(own, changes, {
            publishedAt: AT,
            eventId: changes[0]?.kind ?? null,
            affectsClients: changes.length % 2 === 0,
          }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }))
      .map(([own, page, limit]) =>
        command('listVersions', { own, page, limit }, (session) =>
          session.listVersions(own, { page, limit }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, optional(version))
      .map(([own, at]) =>
        command('loadFlagSet', { own, at }, (session) => session.loadFlagSet(own, at)),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, version)
      .map(([own, since]) =>
        command('loadChanges', { own, since }, async (session) =>
          withSortedKeys(await session.loadChanges(own, since)),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(environment, id, version)
      .map(([environmentId, flagId, since]) =>
        command('loadFlagHistory', { environmentId, flagId, since }, (session) =>
          session.loadFlagHistory({ environmentId, flagId, since }),
        ),
      ),
  },
)

const sessionCommand: fc.Arbitrary<SessionCommand> = fc.oneof(
  ...KINDS.map((kind): fc.Arbitrary<SessionCommand> => recordCommands(kind)),
  publicationCommands,
  publicationCommands,
  usageCommands,
)

/**
 * Generates a transaction of commands. Its commands can fail, and the transaction can end with a
 * rollback.
 */
const transaction: fc.Arbitrary<Command> = fc
  .tuple(fc.array(sessionCommand, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([steps, fails]) => ({
    name: fails ? 'transaction that fails' : 'transaction',
    input: steps,
    run: (storage) => transact(storage, steps, fails),
  }))

async function transact(
  storage: Storage,
  steps: readonly SessionCommand[],
  fails: boolean,
): Promise<unknown> {
  let results: unknown[] = []
  const failure = new Error('rolled back')
  const work = storage.transaction('lock', async (tx) => {
    results = []
    for (const step of steps) results.push(await step.run(tx).catch(refusalOf))
    if (fails) throw failure
  })
  await work.catch((error: unknown) => {
    if (error !== failure) throw error
  })
  return results
}

/** Generates the command sequences of the model test. */
export const commands: fc.Arbitrary<readonly Command[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: sessionCommand }, { weight: 1, arbitrary: transaction }),
  { maxLength: 40, size: 'max' },
)

function refusalOf(error: unknown): unknown {
  if (isFlagError(error)) return { refusal: error.code }
  throw error
}
