import assert from 'node:assert/strict'
import type { ExampleProject } from '@ff-examples/host-check'
import { type AppUser, sessionCookie } from './sessions.ts'

interface CheckedApp {
  readonly url: string
  readonly project: ExampleProject
}

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the checks assert the shape of the data
  readonly data: any
}

/**
 * Checks that the users of the app manage flags with the app's own session, each with its role, and
 * that requests without such a session are refused.
 */
export async function checkUsers(app: CheckedApp): Promise<void> {
  const { orgId } = app.project
  const ada = userOf('ada', 'developer', orgId)
  const me = await send(app, '/auth/me', { cookie: cookieOf(ada) })
  const { id, email, name } = ada
  assert.deepEqual(me, {
    status: 200,
    data: {
      user: { id, email, name, role: 'editor', org_id: orgId },
      memberships: [],
      csrf_token: null,
      expires_at: null,
    },
  })
  const flag = { method: 'POST', body: JSON.stringify({ key: 'by-a-user', type: 'boolean' }) }
  const create = async (cookie: string) => (await send(app, FLAGS, { cookie, ...flag })).status
  assert.equal(await create(cookieOf(ada)), 201)
  assert.equal(await create(cookieOf(userOf('sam', 'support', orgId))), 403)
  assert.equal(await create(cookieOf(userOf('eve', 'customer', orgId))), 401)
  assert.equal(await create(`${cookieOf(ada).slice(0, -1)}~`), 401)
  assert.equal(await create(''), 401)
  assert.equal((await send(app, '/auth/me', { cookie: '' })).status, 401)
  await checkAuditLog(app, ada)
  console.log('Checked: sessions of the app give their users access, each with its role.')
}

const FLAGS = '/projects/site/flags'

function userOf(id: string, job: AppUser['job'], orgId: string): AppUser {
  return { id, email: `${id}@site.example`, name: id, job, orgId }
}

/** Returns the cookie that a browser sends with the session of a user. */
function cookieOf(user: AppUser): string {
  return sessionCookie(user).split(';')[0] ?? ''
}

async function checkAuditLog(app: CheckedApp, { id }: AppUser): Promise<void> {
  const cookie = cookieOf(userOf('sam', 'support', app.project.orgId))
  const { data } = await send(app, `/audit/logs?event_type=flag.created&actor_id=${id}`, { cookie })
  assert.deepEqual(
    data.data.map(({ payload }: { payload: { after: { key: string } } }) => payload.after.key),
    ['by-a-user'],
  )
}

async function send(
  { url }: CheckedApp,
  path: string,
  { cookie, ...request }: RequestInit & { readonly cookie: string },
): Promise<Answer> {
  const headers = { cookie, 'content-type': 'application/json' }
  const response = await fetch(`${url}/flags${path}`, { ...request, headers })
  const { data } = (await response.json()) as { data: unknown }
  return { status: response.status, data }
}
