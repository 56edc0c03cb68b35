import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { isInNetwork, parseAddress, parseNetwork } from './cidr.ts'

const v4 = fc.ipV4()
const v6 = fc.ipV6()
/** Texts that are mostly invalid addresses. */
const almost = fc
  .tuple(fc.oneof(v4, v6), fc.nat(), fc.constantFrom('', ':', '.', '0', 'f', '/', ' ', '%1'))
  .map(([text, at, piece]) => {
    const index = at % (text.length + 1)
    return text.slice(0, index) + piece + text.slice(piece === '' ? index + 1 : index)
  })

describe('parseAddress and isInNetwork for any text', () => {
  it('parseAddress accepts the same addresses as Node, except those with zones', () => {
    fc.assert(
      fc.property(fc.oneof(v4, v6, almost), (text) => {
        const isAddress = isIP(text) !== 0 && !text.includes('%')
        expect(parseAddress(text) !== undefined).toBe(isAddress)
      }),
      { numRuns: runs(5000) },
    )
  })

  it.each([
    ['ipv4', v4, 32],
    ['ipv6', v6, 128],
  ] as const)(
    'isInNetwork agrees with Node for any %s address and network',
    (family, text, most) => {
      fc.assert(
        fc.property(
          text,
          text,
          fc.nat({ max: most }),
          fc.boolean(),
          (base, other, bits, isNear) => {
            const list = new BlockList()
            list.addSubnet(base, bits, family)
            const address = isNear ? base : other
            const [words, network] = [parseAddress(address), parseNetwork(`${base}/${bits}`)]
            expect(words && network && isInNetwork(words, network)).toBe(
              list.check(address, family),
            )
          },
        ),
        { numRuns: runs(2000) },
      )
    },
  )
})
