/** An IP address as the four words of IPv6, in which IPv4 is written as `::ffff:10.0.0.1`. */
export type Address = readonly number[]

/** The addresses that begin with the same bits. */
export interface Network {
  readonly address: Address
  /** For each word, the bits that count. */
  readonly masks: readonly number[]
  /** So short a prefix takes in more than IPv4, and so is about IPv6 alone. */
  readonly isOfV6: boolean
}

/** The longest way to write an address: `0000:…:0000:255.255.255.255`. */
const MAX_ADDRESS_LENGTH = 45
const V6_BITS = 128
/** What stands before an IPv4 address that is written as an IPv6 one. */
const MAPPED_BITS = 96
const MAPPED = 0xffff
const V6_GROUPS = 8

/**
 * An address such as `10.0.0.1`, `2001:db8::1` or `::ffff:10.0.0.1`, which is IPv4. Undefined: it
 * is none; numbers with leading zeros, zones and ports make it none.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > MAX_ADDRESS_LENGTH) return undefined
  if (text.includes(':')) return parseV6(text)
  const word = parseV4(text)
  return word === undefined ? undefined : [0, 0, MAPPED, word]
}

/** A network such as `10.0.0.0/8`; an address without a length is a network of its own. */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', length, ...rest] = text.split('/')
  const address = parseAddress(base)
  const before = base.includes(':') ? 0 : MAPPED_BITS
  const own = V6_BITS - before
  const counting = length === undefined ? own : parseDecimal(length, own)
  if (rest.length > 0 || address === undefined || counting === undefined) return undefined
  const bits = before + counting
  return { address, masks: masksOf(bits), isOfV6: bits < MAPPED_BITS }
}

/** Whether the address lies in the network. One family is never in a network of the other. */
export function isInNetwork(address: Address, { address: base, masks, isOfV6 }: Network): boolean {
  // Addresses of IPv4 differ only in the last word.
  for (let index = 3; index >= 0; index -= 1) {
    const difference = (address[index] ?? 0) ^ (base[index] ?? 0)
    if ((difference & (masks[index] ?? 0)) !== 0) return false
  }
  const [first, second, third] = address
  return !isOfV6 || first !== 0 || second !== 0 || third !== MAPPED
}

function masksOf(bits: number): readonly number[] {
  return [0, 32, 64, 96].map((before) => {
    const counting = Math.min(Math.max(bits - before, 0), 32)
    // Shifting by 32 would shift by nothing.
    return counting === 0 ? 0 : -1 << (32 - counting)
  })
}

function parseDecimal(text: string, most: number): number | undefined {
  const number = /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : most + 1
  return number <= most ? number : undefined
}

function parseV4(text: string): number | undefined {
  const parts = text.split('.')
  let word = 0
  for (const part of parts) {
    const byte = parseDecimal(part, 255)
    if (byte === undefined) return undefined
    word = (word << 8) | byte
  }
  return parts.length === 4 ? word : undefined
}

function parseV6(text: string): Address | undefined {
  const [head = '', tail, ...rest] = text.split('::')
  const isWhole = tail === undefined
  const first = parseGroups(head, isWhole)
  const last = parseGroups(tail ?? '', true)
  if (rest.length > 0 || first === undefined || last === undefined) return undefined
  const gap = V6_GROUPS - first.length - last.length
  // `::` stands for at least one group of zeros.
  if (isWhole ? gap !== 0 : gap < 1) return undefined
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
      const word = isEnd && index === parts.length - 1 ? parseV4(part) : undefined
      if (word === undefined) return undefined
      groups.push(word >>> 16, word & 0xffff)
    }
  }
  return groups
}
