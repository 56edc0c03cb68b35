import { expect, it } from 'vitest'
import { wireReference } from './wire-reference.ts'

// `npx vitest run --project management test/http/wire-reference.test.ts -u` writes the page.
it('The wire reference equals the generated page', async () => {
  await expect(wireReference()).toMatchFileSnapshot('../../../../docs/wire-reference.md')
})
