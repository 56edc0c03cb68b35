import { expect, it } from 'vitest'
import { openPreviewScene, user } from './preview-scene.ts'

const DRAFT = `
// #region draft
{
  "changes": [
    { "kind": "segment", "segment_id": "partners", "rules": [{ "attribute": "user.plan", "value": "partner" }], "add": ["user-7"] },
    { "kind": "promotion", "flag_id": "new-checkout", "from_env_id": "staging" }
  ],
  "window_hours": 24,
  "max_contexts": 10000,
  "examples": 5
}
// #endregion
`

it('The documented preview returns the contexts that a promotion and a segment change', async () => {
  const scene = await openPreviewScene()
  const project = `/projects/${scene.mine.projectId}`
  await scene.done('POST', `${project}/flags`, { key: 'new-checkout', type: 'boolean' })
  const segment = await scene.done('POST', `${project}/segments`, { key: 'partners' })
  const rule = { name: 'Partners', kind: 'segment', segment_id: segment.id, variation_id: 'true' }
  await scene.done('POST', `${project}/envs/staging/flags/new-checkout/targeting-rules`, rule)
  await scene.see(user('user-7'), user('user-8', { plan: 'partner' }))
  const { changes, ...more } = JSON.parse(DRAFT.replaceAll(/^\/\/ #.*$/gm, ''))
  const { flags } = await scene.impact(changes, more)
  expect(flags).toHaveLength(1)
  expect(flags[0]).toMatchObject({ key: 'new-checkout', changed: 1, undetermined: 1 })
  expect(flags[0].moves[0].examples[0].key).toBe('user-7')
  await scene.flags.close()
})
