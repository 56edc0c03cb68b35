import { expect, it } from 'vitest'
import { createFlagClient } from '../flag-client.ts'
import { createLocalClient } from '../local-client.ts'
import { addressIn } from './address.ts'

/** All characters that Unicode calls white space, and the byte order mark. */
const SPACES = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => /[\p{White_Space}\ufeff]/u.test(character),
)
const [url, sdkKey] = ['http://a.test/base', 'ff_k-1']

it('White space of every kind around the URL and the SDK key is removed.', () => {
  expect(SPACES.length).toBe(26)
  for (const space of [...SPACES, SPACES.join('')]) {
    const padded = { url: `${space}${url}/${space}`, sdkKey: `${space}${sdkKey}${space}` }
    expect(addressIn(padded)).toEqual({ url, sdkKey })
  }
})

it.each([
  [undefined, 'url'],
  [{}, 'url'],
  [{ url: 7, sdkKey }, 'url'],
  [{ url: ' ', sdkKey }, 'url'],
  [{ url: 'localhost:4400', sdkKey }, 'url'],
  [{ url: 'httpx://a.test', sdkKey }, 'url'],
  [{ url: 'http://ada:secret@a.test', sdkKey }, 'url'],
  [{ url: 'http://a.test/?token=secret', sdkKey }, 'url'],
  [{ url: 'http://a.test/#secret', sdkKey }, 'url'],
  [{ url }, 'sdkKey'],
  [{ url, sdkKey: ' \n' }, 'sdkKey'],
  [{ url, sdkKey: ['k'] }, 'sdkKey'],
  [{ url, sdkKey: 'ff secret' }, 'sdkKey'],
  [{ url, sdkKey: 'ff_secret\nsecret' }, 'sdkKey'],
  [{ url, sdkKey: 'ff_sécret' }, 'sdkKey'],
])(
  'The clients throw a TypeError for the options %j that names `%s` and shows no key.',
  (options, field) => {
    for (const create of [createFlagClient, createLocalClient]) {
      let error: unknown
      try {
        create(options as never)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain(`\`${field}\``)
      expect(String(error)).not.toMatch(/s[eé]cret/)
    }
  },
)
