/** An IP address as words of 32 bits: one for IPv4, four for IPv6. */
export type Address = readonly number[]

/** A range of addresses that share a prefix. */
export interface Network {
  /** The first address of the range. */
  readonly address: Address
  /** The mask of the prefix, for each word of the address. */
  readonly masks: readonly number[]
}

const V4_BITS = 32
const V6_BITS = 128
/** The length of the prefix of IPv4-mapped IPv6 addresses, in bits. */
const MAPPED_BITS = 96
const V6_GROUPS = 8

/**
 * Parses an IP address such as `10.0.0.1` or `2001:db8::1`. An IPv4-mapped address such as
 * `::ffff:10.0.0.1` is returned as IPv4. Returns `undefined` for any other text, including
 * addresses with leading zeros in decimal numbers, with a zone or with a port.
 */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(':')) return parseV4(text)
  const words = parseV6(text)
  return words !== undefined && isMapped(words) ? words.slice(3) : words
}

/**
 * Parses a network in CIDR notation, such as `10.0.0.0/8`. An address without a prefix length is a
 * network of one address. Returns `undefined` for any other text.
 */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', length, ...rest] = text.split('/')
  if (rest.length > 0) return undefined
  const words = base.includes(':') ? parseV6(base) : parseV4(base)
  if (words === undefined) return undefined
  const most = words.length === 1 ? V4_BITS : V6_BITS
  const bits = length === undefined ? most : parseDecimal(length, most)
  if (bits === undefined) return undefined
  // A network with a shorter prefix also contains addresses that are not IPv4-mapped.
  const isV4InV6 = isMapped(words) && bits >= MAPPED_BITS
  const address = isV4InV6 ? words.slice(3) : words
  return maskedNetwork(address, isV4InV6 ? bits - MAPPED_BITS : bits)
}

/** A set of networks. The network of an address is found by binary search. */
export class NetworkSet {
  /** The networks, sorted by their first addresses. No network contains another. */
  readonly #networks: Network[] = []

  constructor(networks: readonly Network[]) {
    const sorted = [...networks].sort(
      (left, right) => compare(left.address, right.address) || compare(left.masks, right.masks),
    )
    // Two networks either have no address in common, or one contains the other.
    for (const network of sorted) {
      const last = this.#networks.at(-1)
      if (last === undefined || !isInNetwork(network.address, last)) this.#networks.push(network)
    }
  }

  /** Returns `true` if one of the networks contains the address. */
  has(address: Address): boolean {
    let low = 0
    let high = this.#networks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = this.#networks[middle]?.address ?? []
      if (compare(first, address) <= 0) low = middle + 1
      else high = middle
    }
    const last = this.#networks[low - 1]
    return last !== undefined && isInNetwork(address, last)
  }
}

/**
 * Compares two addresses or masks by family, then by unsigned words. The masks of shorter prefixes
 * are smaller.
 */
function compare(left: Address, right: Address): number {
  let order = left.length - right.length
  for (let index = 0; index < left.length && order === 0; index += 1) {
    order = ((left[index] ?? 0) >>> 0) - ((right[index] ?? 0) >>> 0)
  }
  return order
}

/**
 * Returns `true` if the network contains the address. Addresses of the other family never match.
 */
export function isInNetwork(address: Address, { address: base, masks }: Network): boolean {
  if (address.length !== base.length) return false
  for (let index = 0; index < base.length; index += 1) {
    const difference = (address[index] ?? 0) ^ (base[index] ?? 0)
    if ((difference & (masks[index] ?? 0)) !== 0) return false
  }
  return true
}

function maskedNetwork(address: Address, bits: number): Network {
  const masks = address.map((_, index) => {
    const counting = Math.min(Math.max(bits - index * 32, 0), 32)
    // A shift by 32 bits has no effect in JavaScript.
    return counting === 0 ? 0 : -1 << (32 - counting)
  })
  return { address: address.map((word, index) => word & (masks[index] ?? 0)), masks }
}

function parseDecimal(text: string, most: number): number | undefined {
  const number = /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : most + 1
  return number <= most ? number : undefined
}

function parseV4(text: string): Address | undefined {
  const word = readV4(text, 0)
  return word === undefined ? undefined : [word]
}

const ZERO = 0x30
const DOT = 0x2e
const COLON = 0x3a

/**
 * Parses an IPv4 address from `start` to the end of the text. Returns `undefined` for any other
 * text.
 */
function readV4(text: string, start: number): number | undefined {
  let word = 0
  let at = start
  for (let count = 1; count <= 4; count += 1) {
    const first = at
    let byte = 0
    for (; at - first < 3; at += 1) {
      const digit = text.charCodeAt(at) - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      byte = 10 * byte + digit
    }
    const hasLeadingZero = at - first > 1 && text.charCodeAt(first) === ZERO
    if (at === first || hasLeadingZero || byte > 255) return undefined
    word = (word << 8) | byte
    if (count < 4 && text.charCodeAt(at) !== DOT) return undefined
    if (count < 4) at += 1
  }
  return at === text.length ? word : undefined
}

/**
 * Parses an IPv6 address. `::` means one or more groups of zeros. The end can be an IPv4 address.
 */
function parseV6(text: string): Address | undefined {
  const groups: number[] = []
  let gap = text.startsWith('::') ? 0 : -1
  let at = gap === 0 ? 2 : 0
  while (at < text.length) {
    const start = at
    let group = 0
    for (let digit = hexDigit(text, at); digit !== -1; digit = hexDigit(text, at)) {
      group = (group << 4) | digit
      at += 1
    }
    const unit = text.charCodeAt(at)
    if (unit === DOT) {
      const word = readV4(text, start)
      if (word === undefined) return undefined
      groups.push(word >>> 16, word & 0xffff)
      return wordsOf(groups, gap)
    }
    if (at === start || at - start > 4) return undefined
    groups.push(group)
    if (at === text.length) return wordsOf(groups, gap)
    at += 1
    if (unit !== COLON || at === text.length) return undefined
    if (text.charCodeAt(at) !== COLON) continue
    if (gap !== -1) return undefined
    gap = groups.length
    at += 1
  }
  return wordsOf(groups, gap)
}

/** Returns the value of the hexadecimal digit at a position, or -1 if there is none. */
function hexDigit(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit >= ZERO && unit <= 0x39) return unit - ZERO
  const letter = unit | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/**
 * Returns the words of an IPv6 address, or `undefined` if the number of groups is wrong. `gap` is
 * the number of groups before `::`, or -1 if there is no `::`.
 */
function wordsOf(groups: readonly number[], gap: number): Address | undefined {
  const missing = V6_GROUPS - groups.length
  if (gap === -1 ? missing !== 0 : missing < 1) return undefined
  const groupAt = (index: number) => {
    if (index < gap) return groups[index] ?? 0
    return index < gap + missing ? 0 : (groups[index - missing] ?? 0)
  }
  return [0, 2, 4, 6].map((index) => (groupAt(index) << 16) | groupAt(index + 1))
}

function isMapped([first, second, third]: Address): boolean {
  return first === 0 && second === 0 && third === 0xffff
}
