import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { allInMemory } from '../capabilities.ts'
import { type Listening, listen } from '../node/listening.ts'
import { evaluateRequest, RawConnection } from '../node/raw-connection.ts'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../seed.ts'
import { report, sized } from './scale.ts'

const BODIES = sized({ full: 100_000, small: 3000 })
const AT_ONCE = 20
const TIMEOUT_MS = sized({ full: 900_000, small: 120_000 })
const MIB = 1024 * 1024

/** Names of members that every object inherits or that give access to prototypes. */
const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
const GOOD = JSON.stringify({ context: { kind: 'user', key: 'user-1', plan: 'pro', age: 41 } })

let flags: FlagServer
let listening: Listening
let sdkKey: string

beforeAll(async () => {
  const memory = allInMemory()
  const { live } = await seed(memory.storage)
  ;({ sdkKey } = await addSdkKey(memory.storage, live, { rateLimit: 100_000_000 }))
  const forInherited = INHERITED.map((attribute) => ({
    conditions: [{ attribute, operator: 'exists', value: '' }],
  }))
  await publish(
    memory,
    live.environmentId,
    flagChange(textFlag('banner', 'hello', forInherited)),
    ...INHERITED.map((key) => flagChange(textFlag(key, 'mine'))),
  )
  flags = createFlagServer(memory)
  listening = await listen(toNodeHandler(flags))
})

afterAll(async () => {
  await listening.close()
  await flags.close()
})

/** Sends a request over a new connection and returns the reply. */
async function sendRequest(request: string | Uint8Array) {
  const connection = await RawConnection.open(listening.port)
  await connection.send(request)
  const answer = await connection.answer()
  connection.close()
  return answer
}

async function expectAlive(): Promise<void> {
  const answer = await sendRequest(evaluateRequest(sdkKey, GOOD))
  expect(answer?.status).toBe(200)
  expect(answer?.text).toBe(ALL_FLAGS)
}

/** The expected reply as text, because an object literal cannot define a member `__proto__`. */
const ALL_FLAGS = `{${['banner', ...INHERITED]
  .sort()
  .map((key) => `"${key}":"${key === 'banner' ? 'hello' : 'mine'}"`)
  .join(',')}}`

/** Checks that a reply has an allowed status and the matching format. */
function expectToFit(answer: Awaited<ReturnType<typeof sendRequest>>): void {
  expect([200, 400, 413]).toContain(answer?.status)
  const json: unknown = JSON.parse(answer?.text ?? '')
  if (answer?.status !== 200) {
    expect(json).toEqual({ error: expect.any(String), statusCode: answer?.status })
  } else expect(Object.keys(json as object).sort()).toEqual(['banner', ...INHERITED].sort())
}

const oddName = fc.oneof(fc.constantFrom(...INHERITED, 'kind', 'key', 'multi', ''), fc.string())
const { json: anyJson } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, '', 'multi', 'user', -0, 1e308, 2 ** 53, '\u0000', '\ud800'),
    fc.double(),
    fc.string({ unit: 'binary' }),
    fc.array(tie('json'), { maxLength: 5 }),
    fc.array(fc.tuple(oddName, tie('json')), { maxLength: 5 }).map((pairs) => new Map(pairs)),
  ),
}))

/** Returns JSON text. Objects are represented as maps, so that any name can occur, even twice. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (!(value instanceof Map)) return JSON.stringify(value) ?? 'null'
  const members = [...value].map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`)
  return `{${members.join(',')}}`
}

const structured = anyJson.map((value) => Buffer.from(`{"context":${textOf(value)}}`))
const mutated = fc
  .array(fc.tuple(fc.nat(GOOD.length), fc.nat(2), fc.nat(255)), { minLength: 1, maxLength: 8 })
  .map((mutations) => {
    const bytes = [...Buffer.from(GOOD)]
    for (const [at, removed, byte] of mutations) bytes.splice(at, removed, byte)
    return Buffer.from(bytes)
  })
const anyBody = fc.oneof(structured, mutated, fc.uint8Array({ maxLength: 400 }))

describe('Arbitrary request bodies', { timeout: TIMEOUT_MS }, () => {
  it('Arbitrary bodies receive 200, 400 or 413 in the correct format, and the server continues [H1]', async () => {
    let sent = 0
    const connections = await Promise.all(
      Array.from({ length: AT_ONCE }, () => RawConnection.open(listening.port)),
    )
    const bodies = fc.array(anyBody, { minLength: AT_ONCE, maxLength: AT_ONCE })
    await fc.assert(
      fc.asyncProperty(bodies, async (some) => {
        await Promise.all(
          some.map(async (body, index) => {
            const connection = connections[index]
            await connection?.send(evaluateRequest(sdkKey, body))
            expectToFit(await connection?.answer())
            sent += 1
          }),
        )
      }),
      { numRuns: BODIES / AT_ONCE, interruptAfterTimeLimit: TIMEOUT_MS - 30_000 },
    )
    for (const connection of connections) connection.close()
    report(`hostile bodies: ${sent} received valid replies`)
    await expectAlive()
  })

  const many = (count: number, member: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => member(index)).join(',')

  it.each([
    ['arrays nested 3,000 deep', `{"context":{"kind":"user","a":${nested(3000)}}}`, 400],
    ['arrays nested 100,000 deep', `{"context":${nested(100_000)}}`, 400],
    [
      'objects nested 20,000 deep',
      `{"context":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`,
      400,
    ],
    ['50,000 attributes', `{"context":{"kind":"user",${many(50_000, (at) => `"a${at}":1`)}}}`, 413],
    ['20,000 attributes', `{"context":{"kind":"user",${many(20_000, (at) => `"a${at}":1`)}}}`, 400],
    [
      '20,000 numbered names',
      `{"context":{"kind":"user",${many(20_000, (at) => `"${at}":1`)}}}`,
      400,
    ],
    ['a number of 200,000 digits', `{"context":{"kind":"user","a":${'7'.repeat(200_000)}}}`, 400],
    ['one name 10,000 times', `{"context":{"kind":"user",${many(10_000, () => '"a":1')}}}`, 200],
    [
      'a text of 250,000 characters',
      `{"context":{"kind":"user","a":"${'x'.repeat(250_000)}"}}`,
      400,
    ],
    [
      'thirty texts of 8,192 characters',
      `{"context":{"kind":"user",${many(30, (at) => `"a${at}":"${'x'.repeat(8192)}"`)}}}`,
      200,
    ],
  ])(
    'A body with %s is refused or evaluated, and other requests are served [H2]',
    async (_name, body, status) => {
      const [answer] = await Promise.all([
        sendRequest(evaluateRequest(sdkKey, body)),
        expectAlive(),
      ])
      expect(answer?.status).toBe(status)
      expectToFit(answer)
    },
  )
})

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

describe('Bodies that are too large or do not match their headers [H3]', {
  timeout: TIMEOUT_MS,
}, () => {
  const head = (key: string, ...lines: readonly string[]) => {
    const all = ['POST /evaluator/evaluate HTTP/1.1', 'Host: a', `x-api-key: ${key}`, ...lines]
    return `${all.join('\r\n')}\r\n\r\n`
  }

  /**
   * Sends `start` and then a number of pieces. Returns the status of the reply; `undefined` if
   * there is none.
   */
  async function pour(start: string, piece: Uint8Array, pieces: number) {
    const connection = await RawConnection.open(listening.port)
    await connection.send(start)
    for (let sent = 0; sent < pieces; sent += 1) await connection.send(piece)
    const answer = await connection.answer()
    connection.close()
    return answer?.status
  }

  it.each(['a valid key', 'an invalid key'])(
    'Bodies that are too large are refused without using memory, with %s',
    async (validity) => {
      const key = validity === 'a valid key' ? sdkKey : `ff_${'0'.repeat(64)}`
      const refusals = validity === 'a valid key' ? [413, undefined] : [401, undefined]
      const before = process.memoryUsage.rss()
      const kib64 = Buffer.alloc(65_536, ' ')
      const chunk = Buffer.concat([Buffer.from('10000\r\n'), kib64, Buffer.from('\r\n')])
      for (let round = 0; round < 4; round += 1) {
        const long = head(key, `Content-Length: ${20 * MIB}`)
        expect(refusals).toContain(await pour(long, kib64, 320))
        expect(refusals).toContain(await pour(head(key, 'Transfer-Encoding: chunked'), chunk, 400))
      }
      expect(process.memoryUsage.rss() - before).toBeLessThan(150 * MIB)
      await expectAlive()
    },
  )

  it('Compressed bodies are refused, even small ones', async () => {
    const bomb = Buffer.alloc(20_000, 1)
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, identity']) {
      const answer = await sendRequest(
        evaluateRequest(sdkKey, bomb, [`Content-Encoding: ${coding}`]),
      )
      expect(answer?.status).toBe(400)
    }
  })

  it('A short body does not stop the server, and bytes after the end of a body are not part of it', async () => {
    const short = await RawConnection.open(listening.port)
    await short.send(`${head(sdkKey, `Content-Length: ${GOOD.length + 10}`)}${GOOD}`)
    short.close()
    const long = `${head(sdkKey, `Content-Length: ${GOOD.length}`)}${GOOD}`
    const connection = await RawConnection.open(listening.port)
    await connection.send(`${long}trailing nonsense\r\n\r\n`)
    expect((await connection.answer())?.status).toBe(200)
    expect((await connection.answer())?.status).toBe(400)
    connection.close()
    await expectAlive()
  })

  it('The body of a refused request is read to its end, so that the connection can be used again', async () => {
    const connection = await RawConnection.open(listening.port)
    const large = `{"context":{"kind":"user","text":"${'x'.repeat(200_000)}"}}`
    for (let round = 0; round < 3; round += 1) {
      await connection.send(evaluateRequest(`ff_${'0'.repeat(64)}`, large))
      expect((await connection.answer())?.status).toBe(401)
      await connection.send(evaluateRequest(sdkKey, GOOD))
      expect((await connection.answer())?.status).toBe(200)
    }
    connection.close()
  })

  it('A request that arrives byte by byte receives one reply', async () => {
    const connection = await RawConnection.open(listening.port)
    for (const byte of evaluateRequest(sdkKey, GOOD)) await connection.send(Uint8Array.of(byte))
    expect(await connection.answer()).toMatchObject({ status: 200, text: ALL_FLAGS })
    connection.close()
  })
})

describe('Names of inherited members [H4]', () => {
  it.each(INHERITED)(
    'The attribute %s matches only if the context contains it, and later replies are not affected',
    async (name) => {
      const sent = [
        `{"context":{"kind":"user","key":"user-1","${name === '__proto__' ? 'x' : '__proto__'}":{"isAdmin":true}}}`,
        `{"${name}":{"context":{"kind":"user"}},"context":{"kind":"user"}}`,
        `{"context":{"kind":"multi","${name}":{"key":"a"}}}`,
      ]
      for (const body of sent) expectToFit(await sendRequest(evaluateRequest(sdkKey, body)))
      const own = await sendRequest(
        evaluateRequest(sdkKey, `{"context":{"kind":"user","${name}":"mine"}}`),
      )
      expect(JSON.parse(own?.text ?? '').banner).toBe('other')
      expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
      await expectAlive()
    },
  )

  it('Names of inherited members have no effect in headers and queries', async () => {
    for (const name of INHERITED) {
      const answer = await sendRequest(
        evaluateRequest(sdkKey, GOOD, [`${name}: x`, `x-${name}: y`]),
      )
      expect(answer).toMatchObject({ status: 200, text: ALL_FLAGS })
      const request = evaluateRequest(sdkKey, GOOD).toString()
      const queried = await sendRequest(
        request.replace('/evaluate ', `/evaluate?${name}[isAdmin]=1 `),
      )
      expect(queried).toMatchObject({ status: 200, text: ALL_FLAGS })
    }
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
  })
})

describe('Malformed requests [H5]', () => {
  const post = 'POST /evaluator/evaluate HTTP/1.1\r\nHost: a\r\n'
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

  it.each([
    [
      'a length and chunks',
      `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${smuggled}`],
    ['a negative length', `${post}Content-Length: -1\r\n\r\n{}`],
    ['a length with a sign', `${post}Content-Length: +2\r\n\r\n{}`],
    ['an unknown transfer coding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a repeated transfer coding', `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
    ['a space before the colon', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    [
      'a chunk with an invalid size',
      `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a NUL in a header', `${post}x-a: \0\r\n\r\n`],
    ['a header without a colon', `${post}nothing\r\n\r\n`],
    ['an invalid method', 'EVALUATE /evaluator/evaluate HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['HTTP/0.9', 'GET /evaluator/evaluate\r\n\r\n'],
    ['HTTP/3.0', 'GET /evaluator/evaluate HTTP/3.0\r\n\r\n'],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
    ['2,500 headers', `${post}${'x-a: b\r\n'.repeat(2500)}\r\n`],
    ['a header of 20 KiB', `${post}x-a: ${'b'.repeat(20_000)}\r\n\r\n`],
    ['an invalid path', 'POST ../../evaluator/evaluate HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])(
    'A request with %s is refused or its connection is closed, and other requests are served',
    async (_name, request) => {
      const connection = await RawConnection.open(listening.port)
      await connection.send(request)
      const answer = await connection.answer()
      connection.close()
      if (answer !== undefined) {
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.status).toBeLessThan(500)
      }
      await expectAlive()
    },
  )

  it('Pipelined requests receive their replies in order', async () => {
    const connection = await RawConnection.open(listening.port)
    const bad = evaluateRequest(sdkKey, '{')
    const good = evaluateRequest(sdkKey, GOOD)
    await connection.send(Buffer.concat([good, bad, good, evaluateRequest('ff_none', GOOD), good]))
    const statuses: (number | undefined)[] = []
    for (let index = 0; index < 5; index += 1) statuses.push((await connection.answer())?.status)
    expect(statuses).toEqual([200, 400, 200, 401, 200])
    connection.close()
  })
})
