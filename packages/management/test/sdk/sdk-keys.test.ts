import { expect, it, onTestFinished } from 'vitest'
import { call } from '../../../server/test/call.ts'
import { openMetricsShop } from '../world/metrics-shop.ts'

it('Management paths accept no SDK key, neither as a bearer token nor in its own header.', async () => {
  const { flags, mine } = await openMetricsShop()
  onTestFinished(() => flags.close())
  for (const key of [mine.clientKey, mine.serverKey]) {
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }] as const) {
      const answer = await call(flags, `/projects/${mine.projectId}/flags`, {
        method: 'GET',
        headers,
      })
      expect(answer.status).toBe(401)
    }
  }
})
