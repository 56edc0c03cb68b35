import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { MemoryRateLimiter } from '../../../storage/src/memory/memory-rate-limiter.ts'
import { type LogInAttempt, LogInAttempts } from './log-in-attempts.ts'

const codeOf = (error: unknown) => (isFlagError(error) ? error.code : error)
const create = () =>
  new LogInAttempts({ clock: new FakeClock(), rateLimiter: new MemoryRateLimiter() })

it('An attempt is refused if and only if a limit is reached, in any sequence of attempts', async () => {
  const attempt = fc.record({
    network: fc.constantFrom('a', 'b'),
    account: fc.constantFrom('ada', 'bob', 'eve', 'joe', 'sue', 'tom', undefined),
    device: fc.constantFrom('known', undefined, undefined),
    isRight: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { minLength: 100, maxLength: 400 }), async (sequence) => {
      const attempts = create()
      const failed: LogInAttempt[] = []
      for (const { isRight, ...next } of sequence) {
        const device = next.account === undefined ? undefined : next.device
        const made = { ...next, device: device && `${device} for ${next.account}` }
        const passes = isWithinLimits(failed, made)
        const result = await attempts.run(made, async () => isRight).catch(codeOf)
        expect(result).toBe(passes ? isRight : 'RATE_LIMITED')
        if (passes && !isRight) failed.push(made)
      }
    }),
    { numRuns: runs(50) },
  )
})

function isWithinLimits(
  failed: readonly LogInAttempt[],
  { network, account, device }: LogInAttempt,
) {
  const count = (counts: (attempt: LogInAttempt) => boolean) => failed.filter(counts).length
  if (device !== undefined) return count((each) => each.device === device) < 10
  const inNetwork = count((each) => each.device === undefined && each.network === network) < 50
  if (account === undefined) return inNetwork
  const ofAccount = (each: LogInAttempt) => each.device === undefined && each.account === account
  const isInBoth = (each: LogInAttempt) => ofAccount(each) && each.network === network
  return inNetwork && count(isInBoth) < 10 && count(ofAccount) < 100
}
