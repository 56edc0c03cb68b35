import { describe, expect, it } from 'vitest'
import type { Compressors } from './compressors.ts'
import { encodingFor, textReply } from './content-encoding.ts'

const compress = async (text: string) => new TextEncoder().encode(text)
const both: Compressors = { br: compress, gzip: compress }

describe('encodingFor', () => {
  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['*;q=0.1, gzip;q=0.5', 'gzip'],
    ['gzip;q=nonsense', undefined],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('The encoding for "%s" is %s', (header, encoding) => {
    expect(encodingFor(header, both)).toBe(encoding)
  })

  it('An encoding that the platform lacks is not used', () => {
    expect(encodingFor('br, gzip', { gzip: compress })).toBe('gzip')
    expect(encodingFor('br, gzip', {})).toBeUndefined()
  })
})

describe('textReply', () => {
  it('A text is compressed once for each encoding, also for replies at the same time', async () => {
    let count = 0
    const compressors: Compressors = {
      gzip: async (text) => {
        count += 1
        return compress(text)
      },
    }
    const holder = { text: 'x'.repeat(2000) }
    const options = { acceptEncoding: 'gzip', compressors, headers: { ETag: 'W/"1"' } }
    const replies = await Promise.all([textReply(holder, options), textReply(holder, options)])
    expect(count).toBe(1)
    for (const { status, headers } of replies) {
      expect(status).toBe(200)
      expect(headers).toMatchObject({ ETag: 'W/"1"', 'Content-Encoding': 'gzip' })
    }
  })

  it('A short text is sent uncompressed', async () => {
    const options = { acceptEncoding: 'gzip', compressors: both, headers: {} }
    const { headers, body } = await textReply({ text: '{}' }, options)
    expect([headers['Content-Encoding'], headers['Vary'], body]).toEqual([
      undefined,
      'Accept-Encoding',
      '{}',
    ])
  })
})
