import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { evaluate } from '../../../server/test/call.ts'
import { sized } from '../../../server/test/drills/scale.ts'
import { Oracle } from './oracle.ts'
import { openPreviewScene, type PreviewScene } from './preview-scene.ts'
import { anyMakeChange, fill, ORIGINALS, type RandomChange } from './random-drafts.ts'

const numRuns = runs(sized({ full: 100, small: 6 }))
const DRAFTS = 40

const anyDraft = fc.record({
  makes: fc.array(anyMakeChange, { minLength: 1, maxLength: 3 }),
  hours: fc.integer({ min: 0, max: 12 }),
  seen: fc.array(fc.nat({ max: ORIGINALS.length - 1 }), { maxLength: 6 }),
  isClient: fc.boolean(),
  privacy: fc.option(fc.constantFrom('minimal', 'minimal', 'all'), { freq: 6 }),
  kept: fc.option(fc.uniqueArray(fc.constantFrom('plan', 'beta', 'org.seats', 'address')), {
    freq: 6,
  }),
})

/** Changes the settings of observed contexts, and observes some contexts. */
async function observe(
  scene: PreviewScene,
  draft: typeof anyDraft extends fc.Arbitrary<infer D> ? D : never,
) {
  const { privacy, kept, seen, isClient } = draft
  if (privacy !== null || kept !== null) {
    const body = {
      ...(privacy !== null && { context_privacy: privacy }),
      ...(kept !== null && { kept_attributes: kept }),
    }
    const token = scene.mine.tokens.admin
    expect((await scene.send('PUT', scene.live, { body, token })).status).toBe(200)
    // A server can use earlier settings until its next check of the store.
    if (seen.length % 2 === 0) await scene.clock.advance(20_000)
  }
  const key = isClient ? scene.mine.clientKey : scene.mine.serverKey
  for (const index of seen) await evaluate(scene.flags, key, ORIGINALS[index])
  await scene.clock.advance(2000)
}

async function prepare(
  scene: PreviewScene,
  makes: readonly (typeof anyMakeChange extends fc.Arbitrary<infer M> ? M : never)[],
) {
  const changes: RandomChange[] = []
  for (const make of makes) {
    const change = await make(scene)
    if (change !== undefined) changes.push(change)
  }
  return changes
}

it('A preview equals the evaluation of every original context with the published and the new flag set', async () => {
  const totals = { previews: 0, refused: 0, determined: 0, undetermined: 0, moved: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDraft, { minLength: DRAFTS, maxLength: DRAFTS }),
      async (drafts) => {
        const scene = await openPreviewScene({ managementRateLimit: 1_000_000 })
        await fill(scene)
        const oracle = new Oracle(scene, ORIGINALS)
        for (const draft of drafts) {
          await observe(scene, draft)
          const changes = await prepare(scene, draft.makes)
          if (changes.length === 0) continue
          const before = await oracle.flagSet()
          const at = scene.clock.now() + draft.hours * 1_800_000
          const more = { at: new Date(at).toISOString(), max_contexts: 50_000, examples: 20 }
          const { status, data } = await scene.preview(
            changes.map(({ change }) => change),
            more,
          )
          totals.previews += 1
          let refused = 0
          for (const { publish } of changes) refused ||= errorIn(await publish(scene))
          const after = await oracle.flagSet()
          if (status !== 200) {
            totals.refused += 1
            // Several changes can be refused one by one although they are valid together.
            if (changes.length === 1) expect(refused).toBe(status)
          } else if (refused === 0) {
            await oracle.expectExact({ before, after, at, preview: data })
          } else expect(changes.length).toBeGreaterThan(1)
        }
        for (const name of ['determined', 'undetermined', 'moved'] as const) {
          totals[name] += oracle.tally[name]
        }
        await scene.flags.close()
      },
    ),
    { numRuns, endOnFailure: true },
  )
  expect(totals.previews - totals.refused).toBeGreaterThan(numRuns * DRAFTS * 0.4)
  expect(Math.min(totals.determined, totals.undetermined, totals.moved)).toBeGreaterThan(200)
  process.stdout.write(`${JSON.stringify(totals)}\n`)
}, 1_200_000)

function errorIn(status: number): number {
  return status < 300 ? 0 : status
}
