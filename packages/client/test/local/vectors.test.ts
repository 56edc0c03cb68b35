import type { FlagSetDefinition, SegmentDefinition } from '@ff/core'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'
import type { DefinitionChange } from '@ff/storage'
import { describe, expect, it } from 'vitest'
import { loadVectorFiles, nowOf } from '../../../core/test/vector-files.ts'
import { evaluate } from '../../../server/test/call.ts'
import { createLocalScene, sortedText, untilCurrent } from './local-scene.ts'

/** `broken.json` contains definitions that a server refuses. */
const files = loadVectorFiles().filter(([name]) => name !== 'broken.json')

describe.each(files)('%s in the process', (_name, file) => {
  it('Local values and details of all cases equal the answers of the server.', async () => {
    const [first] = file.cases
    if (first === undefined) throw new Error('A file must have cases')
    const scene = await createLocalScene(nowOf(file, first))
    await scene.publish(...changesOf(file.flagSet))
    const flags = { types: {} }
    const local = scene.create({ flags, extensions: { regex: re2, schemes } } as never)
    await untilCurrent(scene, local)
    for (const vector of file.cases) {
      scene.clock.set(nowOf(file, vector))
      const { body } = await evaluate(scene.server, scene.sdkKey, vector.context)
      const { flags: values } = local.snapshot(vector.context)
      expect(sortedText(values), vector.name).toBe(sortedText(body))
      if (vector.expect) expect(sortedText(values), vector.name).toBe(sortedText(vector.expect))
      for (const [key, value] of Object.entries(body as object)) {
        const served = local.value(key as never, vector.context, 'none' as never)
        const isServed = local.detail(key as never, vector.context).variationId !== null
        expect(served, vector.name).toEqual(isServed ? value : 'none')
      }
    }
    await scene.close()
  })
})

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
  const lists = [
    ['included', included],
    ['excluded', excluded],
  ] as const
  return [
    { kind: 'segment', id: segmentId, definition },
    ...lists
      .filter(([, added]) => added.length > 0)
      .map(
        ([list, added]) => ({ kind: 'segmentKeys', segmentId, list, added, removed: [] }) as const,
      ),
  ]
}
