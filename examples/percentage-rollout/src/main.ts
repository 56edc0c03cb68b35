import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { startServer } from './server.ts'

const server = await startServer()
const environment = `/projects/${server.projectId}/envs/${server.environmentId}`
let servedVersion = 0
const users = Array.from({ length: 2000 }, (_, index) => `user-${index}`)

// #region create
interface Flag {
  readonly id: string
  readonly variations: readonly { readonly id: string; readonly key: string }[]
}

const flag = await manage<Flag>('POST', `/projects/${server.projectId}/flags`, {
  key: 'new-checkout',
  type: 'boolean',
})
const flagPath = `${environment}/flags/${flag.id}`
const rollout = await manage<{ readonly id: string }>('POST', `${flagPath}/rollouts`, {
  name: 'New checkout',
  strategy: 'percentage',
  variation_id: flag.variations.find(({ key }) => key === 'true')?.id,
  percentage: 10,
  // The default is random. A fixed salt makes the output of this example reproducible.
  salt: 'checkout',
})
await manage('POST', `${flagPath}/targeting-rules`, {
  name: 'All users',
  conditions: [],
  rollout_id: rollout.id,
})
// #endregion

const before = await findUsersWithNewCheckout()
console.log(`At 10 %, ${before.size} of ${users.length} users have the new checkout.`)

// #region raise
interface ChangedRollout {
  /** The percentage of users that the change has moved. */
  readonly moved_percentage: number
}

const raise = (percentage: number) =>
  manage<ChangedRollout>('PUT', `${flagPath}/rollouts/${rollout.id}`, { percentage })
const raised = await raise(15)
// #endregion
await untilServed()

const during = await findUsersWithNewCheckout()
const gained = users.filter((user) => during.has(user) && !before.has(user))
const lost = users.filter((user) => before.has(user) && !during.has(user))
console.log(
  `Raised to 15 %: ${gained.length} users gained it and ${lost.length} lost it.`,
  `The server reports that ${raised.moved_percentage} % of all users moved.`,
)
assert.equal(raised.moved_percentage, 5)
assert.deepEqual(lost, [])
const gainedPercentage = (gained.length / users.length) * 100
assert.ok(Math.abs(gainedPercentage - raised.moved_percentage) < 1.5, `${gainedPercentage} %`)

const undone = await raise(10)
await untilServed()
const after = await findUsersWithNewCheckout()
console.log(`Back at 10 %: ${after.size} users have it, the same ones as before.`)
assert.equal(undone.moved_percentage, 5)
assert.deepEqual(after, before)
await server.close()

/** Sends a management request and returns `data` of the response. */
async function manage<Data>(method: string, path: string, body: object): Promise<Data> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { message, data } = (await response.json()) as { message: string; data: Data }
  assert.ok(response.ok, `${method} ${path}: ${message}`)
  return data
}

/** Waits until the last change is served, shortly after it was acknowledged. */
async function untilServed(): Promise<void> {
  const last = servedVersion
  for (; servedVersion === last; await pause(10)) await hasNewCheckout('any-user')
}

/** Evaluates the flag for each user over HTTP, as the browsers of the users do. */
async function findUsersWithNewCheckout(): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const left = users.values()
  const evaluateRest = async () => {
    for (const user of left) if (await hasNewCheckout(user)) found.add(user)
  }
  await Promise.all(Array.from({ length: 20 }, evaluateRest))
  return found
}

async function hasNewCheckout(user: string): Promise<boolean> {
  const response = await fetch(`${server.url}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': server.sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify({ context: { kind: 'user', key: user } }),
  })
  servedVersion = Number(response.headers.get('x-ff-version'))
  const values = (await response.json()) as { readonly 'new-checkout'?: boolean }
  assert.equal(response.status, 200, JSON.stringify(values))
  return values['new-checkout'] === true
}
