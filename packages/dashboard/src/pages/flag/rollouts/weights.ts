/** A key that was pressed on a handle. */
export interface PressedKey {
  readonly key: string
  readonly shiftKey: boolean
}

const WHOLE = 100

/**
 * Returns the percentage by which a key moves a handle: arrow 0.1, with Shift 1, Page 10, Home and
 * End to the limits. `undefined` if the key has another meaning.
 */
export function keyStep({ key, shiftKey }: PressedKey): number | undefined {
  const small = shiftKey ? 1 : 0.1
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return small
    case 'ArrowLeft':
    case 'ArrowDown':
      return -small
    case 'PageUp':
      return 10
    case 'PageDown':
      return -10
    case 'Home':
      return -WHOLE
    case 'End':
      return WHOLE
    default:
      return undefined
  }
}

/** Returns the end of the share at `index`, in percent from the start of the bar. */
export function endOf(weights: readonly number[], index: number): number {
  return rounded(weights.slice(0, index + 1).reduce((sum, weight) => sum + weight, 0))
}

/** Returns the limits between which the end of a share can move. */
export function limitsOf(weights: readonly number[], index: number): readonly [number, number] {
  const isLast = index === weights.length - 1
  return [endOf(weights, index - 1), isLast ? WHOLE : endOf(weights, index + 1)]
}

/**
 * Returns the weights after the end of the share at `index` moved to `end`. The next share grows or
 * shrinks by the same amount; the end of the last share moves alone.
 */
export function withEnd(weights: readonly number[], index: number, end: number): number[] {
  const [least, most] = limitsOf(weights, index)
  const delta = Math.min(Math.max(end, least), most) - endOf(weights, index)
  return weights.map((weight, at) => {
    if (at === index) return rounded(weight + delta)
    return at === index + 1 ? rounded(weight - delta) : weight
  })
}

/** Returns equal weights that are 100 in total. */
export function equalWeights(count: number): number[] {
  const each = Math.floor((WHOLE * 1000) / count) / 1000
  return Array.from({ length: count }, (_, index) =>
    index === 0 ? rounded(WHOLE - each * (count - 1)) : each,
  )
}

/** Returns a percentage with at most three decimals, as the API accepts it. */
export function rounded(percentage: number): number {
  return Math.round(percentage * 1000) / 1000
}
