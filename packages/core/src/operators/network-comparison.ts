import { NetworkSet, parseAddress, parseNetwork } from './cidr.ts'
import { type Comparison, parsed, parseTexts } from './comparison.ts'

/**
 * An IP address within any of a list of networks. Invalid entries are ignored. The value cannot be
 * read if no entry is valid, or if the condition is negated and any entry is invalid: ignoring the
 * entry would then let more addresses match.
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
