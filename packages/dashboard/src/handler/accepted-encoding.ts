/** A content encoding of the files. */
export type Encoding = 'br' | 'gzip' | 'identity'

/** The encodings from the smallest to the largest result. */
const PREFERENCE: readonly Encoding[] = ['br', 'gzip']

/**
 * Returns the encoding of a response: the available one with the highest weight in `Accept-Encoding`,
 * and the smallest of equal ones. `identity` if none is accepted, because every client can read it.
 */
export function acceptedEncoding(
  header: string | null,
  isAvailable: (encoding: Encoding) => boolean,
): Encoding {
  const weights = weightsIn(header ?? '')
  let accepted: Encoding = 'identity'
  let highest = 0
  for (const encoding of PREFERENCE) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0
    if (weight <= highest || !isAvailable(encoding)) continue
    accepted = encoding
    highest = weight
  }
  return accepted
}

/** Returns the weights in `Accept-Encoding`, from 0 to 1; an invalid weight is 0. */
function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0)
  }
  return weights
}
