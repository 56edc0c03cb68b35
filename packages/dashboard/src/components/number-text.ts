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
 * Returns `true` if a comma in the text of a field can separate thousands, as in `1,000`: a reader
 * could mean 1 or 1000. It cannot if the field does not accept such a large number.
 */
export function isAmbiguous(text: string, maxValue = Number.POSITIVE_INFINITY): boolean {
  const trimmed = text.trim()
  return /^[+-]?[1-9]\d{0,2},\d{3}$/.test(trimmed) && Number(trimmed.replace(',', '')) <= maxValue
}

/**
 * Returns the number in the text of a field, or `undefined` if the text is not a number. A comma is
 * a decimal separator, like a point.
 */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim()
  return /^[+-]?\d+(?:[.,]\d*)?$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : undefined
}
