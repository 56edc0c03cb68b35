import { endpoints } from '@ff/protocol/management'
import type { LogFields, Logger } from '@ff/server'
import { beforeAll, describe, expect, it } from 'vitest'
import { templateOf } from '../../src/api/routes.ts'
import { addressOf, createScene, NAMES, type Scene } from '../world/scene.ts'

interface Line {
  readonly level: string
  readonly message: string
  readonly fields: LogFields
}

const lines: Line[] = []
const note =
  (level: string) =>
  (message: string, fields: LogFields = {}) =>
    void lines.push({ level, message, fields })
const logger: Logger = {
  debug: note('debug'),
  info: note('info'),
  warn: note('warn'),
  error: note('error'),
}

/** The requests of the tour that were answered. */
let answered: { readonly name: string; readonly status: number; readonly id: string | undefined }[]
/** The texts that the log of the tour must not contain. */
let secrets: string[]
let scene: Scene

const DELETED_LAST = NAMES.toSorted((a, b) => {
  return Number(endpoints[a].method === 'DELETE') - Number(endpoints[b].method === 'DELETE')
})

/** Sends a request to every endpoint with several credentials, wrong ones included. */
async function tour(): Promise<void> {
  const { world, mine, bodies, headers } = scene
  const tokens = [mine.tokens.viewer, mine.tokens.platform, 'wrong-secret-token', undefined]
  for (const token of tokens) {
    for (const name of DELETED_LAST) {
      const { method } = endpoints[name]
      const more = { cookie: 'ff_session=ffs_secret-cookie', 'idempotency-key': 'secret-once' }
      const answer = await world.call(method, addressOf(scene, name), {
        token,
        body: bodies[name],
        headers: { ...more, ...headers[name] },
      })
      answered.push({ name, status: answer.status, id: answer.headers['X-Request-Id'] })
      for (const issued of ['token', 'key', 'secret', 'one_time_link', 'csrf_token']) {
        const secret = answer.data?.[issued]
        if (typeof secret === 'string' && secret.length > 20) secrets.push(secret)
      }
    }
  }
}

beforeAll(async () => {
  scene = await createScene({ logger })
  answered = []
  const { mine, theirs, bodies, headers } = scene
  secrets = [
    ...Object.values(mine.tokens),
    ...Object.values(theirs.tokens),
    ...['wrong-secret-token', 'secret-cookie', 'secret-once', 'secret-query', 'secret@mine.test'],
    ...['known@mine.test', 'hooks.mine.test', 'secret-person', bodies.logIn.password],
    ...Object.values(headers).flatMap((each) => Object.values(each)),
  ]
  lines.length = 0
  await tour()
  const query = await scene.world.call('GET', '/organizations?x=secret-query')
  expect(query.status).toBe(401)
})

describe('the log of management requests', () => {
  const requests = () => lines.filter(({ message }) => message.startsWith('Request '))

  it('Every request is logged once, with the template of its path and no values of parameters.', () => {
    expect(requests()).toHaveLength(answered.length + 1)
    for (const [index, { level, message, fields }] of requests().slice(0, -1).entries()) {
      const { name, status } = answered[index] ?? { name: '', status: 0 }
      const { method, path } = endpoints[name as keyof typeof endpoints]
      expect([level, message]).toEqual(['info', 'Request handled'])
      expect(fields).toMatchObject({ method, path, status, durationMs: expect.any(Number) })
      expect(Object.keys(fields)).toHaveLength(5)
    }
    expect(new Set(answered.map(({ status }) => status)).size).toBeGreaterThan(5)
  })

  it('The id in an error reply is that of its line, and other replies have no id.', () => {
    for (const [index, { status, id }] of answered.entries()) {
      expect(id).toBe(status < 400 ? undefined : requests()[index]?.fields['requestId'])
    }
  })

  it('The log of requests to all endpoints contains no token, key, cookie, password or body.', () => {
    const text = JSON.stringify(lines, (_, value) => value?.stack ?? value)
    expect(secrets.length).toBeGreaterThan(25)
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(9)
      expect(text).not.toContain(secret)
    }
    const { projectId = '', flagId = '' } = scene.params
    const ofRequests = JSON.stringify(requests())
    expect(ofRequests).not.toContain(projectId)
    expect(ofRequests).not.toContain(flagId)
  })
})

describe('templateOf', () => {
  it('templateOf returns the path of the endpoint table, and undefined for other paths.', () => {
    for (const name of NAMES)
      expect(templateOf(addressOf(scene, name).split('?')[0] ?? '')).toBe(endpoints[name].path)
    expect(templateOf('/openapi.json')).toBe('/openapi.json')
    expect(templateOf('/secret')).toBeUndefined()
    expect(templateOf(`/projects/${'/'.repeat(10_000)}`)).toBeUndefined()
  })
})
