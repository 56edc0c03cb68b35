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
const here = `${environment}/flags/${flag.id}`
const rollout = await manage<{ readonly id: string }>('POST', `${here}/rollouts`, {
  name: 'New checkout',
  strategy: 'percentage',
  variation_id: flag.variations.find(({ key }) => key === 'true')?.id,
  percentage: 10,
  // Random unless given. Given, the example prints the same numbers every time.
  salt: 'checkout',
})
await manage('POST', `${here}/targeting-rules`, {
  name: 'Everybody',
  conditions: [],
  rollout_id: rollout.id,
})
// #endregion

const before = await whoHasIt()
console.log(`At 10 %, ${before.size} of ${users.length} users have the new checkout.`)

// #region raise
interface ChangedRollout {
  /** How much of all users the change has moved. */
  readonly moved_percentage: number
}

const raise = (percentage: number) =>
  manage<ChangedRollout>('PUT', `${here}/rollouts/${rollout.id}`, { percentage })
const raised = await raise(15)
// #endregion
await changeIsServed()

const during = await whoHasIt()
const gained = users.filter((user) => during.has(user) && !before.has(user))
const lost = users.filter((user) => before.has(user) && !during.has(user))
console.log(
  `Raised to 15 %: ${gained.length} gained it, ${lost.length} lost it;`,
  `the server says that ${raised.moved_percentage} % of all users moved.`,
)
assert.equal(raised.moved_percentage, 5)
assert.deepEqual(lost, [])
const gainedPercentage = (gained.length / users.length) * 100
assert.ok(Math.abs(gainedPercentage - raised.moved_percentage) < 1.5, `${gainedPercentage} %`)

const undone = await raise(10)
await changeIsServed()
const after = await whoHasIt()
console.log(`Back at 10 %: ${after.size} users have it, the same ones as before.`)
assert.equal(undone.moved_percentage, 5)
assert.deepEqual(after, before)
await server.close()

/** One call of the management API; answers `data`. */
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

/** A change is acknowledged when it is kept, and served a moment later. */
async function changeIsServed(): Promise<void> {
  const last = servedVersion
  for (; servedVersion === last; await pause(10)) await hasIt('anybody')
}

/** Asks for each user, as their own browsers would. */
async function whoHasIt(): Promise<ReadonlySet<string>> {
  const having = new Set<string>()
  const left = users.values()
  const askOn = async () => {
    for (const user of left) if (await hasIt(user)) having.add(user)
  }
  await Promise.all(Array.from({ length: 20 }, askOn))
  return having
}

async function hasIt(user: string): Promise<boolean> {
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
