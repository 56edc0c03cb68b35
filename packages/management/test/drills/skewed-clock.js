// Changes the clock of the process by the milliseconds in the query `ms`, before the program begins.
const skewMs = Number(new URL(import.meta.url).searchParams.get('ms'))
const RightDate = Date

globalThis.Date = class extends RightDate {
  constructor(...values) {
    super(...(values.length === 0 ? [RightDate.now() + skewMs] : values))
  }

  static now() {
    return RightDate.now() + skewMs
  }
}
