const format = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 })

/** Returns a number in the language of the browser. */
export const number = (value: number) => format.format(value)

/** Returns a percentage: "25 %". */
export const percent = (value: number) => `${number(value)} %`

/** Returns words for one or several: "1 key", "2 keys". */
export const counted = (count: number, one: string, several: string) =>
  `${number(count)} ${count === 1 ? one : several}`
