/** An IP address as numbers: the one word of IPv4, or the four of IPv6. */
export type Address = readonly number[]

/** The addresses that begin with the same bits. */
export interface Network {
  readonly address: Address
  /** For each word, the bits that count. */
  readonly masks: readonly number[]
}

/** The longest way to write an address: `0000:…:0000:255.255.255.255`. */
const MAX_ADDRESS_LENGTH = 45
const V4_BITS = 32
const V6_BITS = 128
/** What stands before an IPv4 address that is written as an IPv6 one. */
const MAPPED_BITS = 96
const V6_GROUPS = 8

/**
 * An address such as `10.0.0.1`, `2001:db8::1` or `::ffff:10.0.0.1`, which is IPv4. Undefined: it
 * is none; numbers with leading zeros, zones and ports make it none.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > MAX_ADDRESS_LENGTH) return undefined
  if (!text.includes(':')) return parseV4(text)
  const words = parseV6(text)
  return words !== undefined && isMapped(words) ? words.slice(3) : words
}

/** A network such as `10.0.0.0/8`; an address without a length is a network of its own. */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', length, ...rest] = text.split('/')
  if (rest.length > 0 || base.length > MAX_ADDRESS_LENGTH) return undefined
  const words = base.includes(':') ? parseV6(base) : parseV4(base)
  if (words === undefined) return undefined
  const most = words.length === 1 ? V4_BITS : V6_BITS
  const bits = length === undefined ? most : parseDecimal(length, most)
  if (bits === undefined) return undefined
  // A shorter prefix takes in more than IPv4, and so is about IPv6.
  const isV4InV6 = isMapped(words) && bits >= MAPPED_BITS
  const address = isV4InV6 ? words.slice(3) : words
  return maskedNetwork(address, isV4InV6 ? bits - MAPPED_BITS : bits)
}

/** Whether the address lies in the network. One family is never in a network of the other. */
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
    // Shifting by 32 would shift by nothing.
    return counting === 0 ? 0 : -1 << (32 - counting)
  })
  return { address, masks }
}

function parseDecimal(text: string, most: number): number | undefined {
  const number = /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : most + 1
  return number <= most ? number : undefined
}

function parseV4(text: string): Address | undefined {
  const parts = text.split('.')
  let word = 0
  for (const part of parts) {
    const byte = parseDecimal(part, 255)
    if (byte === undefined) return undefined
    word = (word << 8) | byte
  }
  return parts.length === 4 ? [word] : undefined
}

function parseV6(text: string): Address | undefined {
  const [head = '', tail, ...rest] = text.split('::')
  if (rest.length > 0) return undefined
  const first = parseGroups(head, tail === undefined)
  const last = tail === undefined ? [] : parseGroups(tail, true)
  if (first === undefined || last === undefined) return undefined
  const gap = V6_GROUPS - first.length - last.length
  // `::` stands for at least one group of zeros.
  if (tail === undefined ? gap !== 0 : gap < 1) return undefined
  const groups = [...first, ...Array<number>(gap).fill(0), ...last]
  return [0, 2, 4, 6].map((at) => ((groups[at] ?? 0) << 16) | (groups[at + 1] ?? 0))
}

/** The 16-bit groups of one side of `::`; the end of an address may be written as IPv4. */
function parseGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (/^[\da-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else {
      const [word] = (isEnd && index === parts.length - 1 ? parseV4(part) : undefined) ?? []
      if (word === undefined) return undefined
      groups.push(word >>> 16, word & 0xffff)
    }
  }
  return groups
}

function isMapped([first, second, third]: Address): boolean {
  return first === 0 && second === 0 && third === 0xffff
}
