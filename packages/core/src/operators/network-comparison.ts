import { NetworkSet, parseAddress, parseNetwork } from './cidr.ts'
import { type Comparison, parsed, parseTexts } from './comparison.ts'

/**
 * Matches an IP address that is in at least one network of a list. Invalid entries are ignored. The
 * whole list is invalid if no entry is valid. The list of a negated condition is also invalid if
 * any entry is invalid, because ignoring the entry would make the condition match more addresses.
 */
export const network: Comparison = {
  expects: 'network',
  read: (value, means, isNegated) => {
    const texts = parseTexts(value) ?? []
    const isReadable = isNegated ? texts.every(isNetwork) : texts.some(isNetwork)
    if (!isReadable || texts.length === 0) return undefined
    const networks = means.lazily(() => {
      return new NetworkSet((parseTexts(value) ?? []).flatMap((text) => parseNetwork(text) ?? []))
    })
    return (candidate) => {
      const address = parsed(candidate, parseAddress)
      return address === undefined ? undefined : networks().has(address)
    }
  },
}

function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined
}
