import { expect, it } from 'vitest'
import { wireReference } from './wire-reference.ts'

// `npx vitest run --project server test/http/wire-reference.test.ts -u` writes the page anew.
it('the wire reference tells what the server does', async () => {
  await expect(wireReference()).toMatchFileSnapshot('../../../../docs/wire-reference.md')
})
