const formats = new Intl.NumberFormat(undefined, {
  maximumFractionDigits: 6,
  numberingSystem: 'latn',
  useGrouping: false,
})

/** Returns a number as the text of a field; an empty text for no number. */
export function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : formats.format(value)
}

/**
 * Returns the number in the text of a field, or `undefined` if the text is not a number. A comma is
 * a decimal separator, like a point.
 */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim()
  return /^[+-]?\d+(?:[.,]\d*)?$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : undefined
}
