import { NetworkSet, parseAddress, parseNetwork } from './cidr.ts'
import { type Comparison, parsed, parseTexts } from './comparison.ts'

/** An IP address within any of a list of networks. */
export const network: Comparison = {
  expects: 'network',
  read: (value, means) => {
    if (parseTexts(value) === undefined) return undefined
    const networks = means.lazily(() => {
      return new NetworkSet((parseTexts(value) ?? []).flatMap((text) => parseNetwork(text) ?? []))
    })
    return (candidate) => {
      const address = parsed(candidate, parseAddress)
      return address === undefined ? undefined : networks().has(address)
    }
  },
}
