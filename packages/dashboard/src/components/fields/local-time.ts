/** The clocks of some zones are set back by half an hour. */
const STEP_MS = 30 * 60_000
const STEPS = [-4, -3, -2, -1, 0, 1, 2, 3, 4]

/** Returns a time as the text of a `datetime-local` field: local, in minutes. */
export function localText(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/**
 * Returns the times that a local text can mean, the earliest first: none if it is no time, one, or
 * two in the hour that is repeated when the clocks are set back. A text in an hour that is left out
 * means the time that the platform reads.
 */
export function timesOf(text: string): readonly Date[] {
  const read = new Date(text)
  if (!Number.isFinite(read.getTime())) return []
  const near = STEPS.map((step) => new Date(read.getTime() + step * STEP_MS))
  return near.filter((time) => localText(time) === localText(read))
}

/**
 * Returns the time that a local text means if it replaces an earlier time: in a repeated hour, the
 * one with the same offset, and otherwise the earlier one. `undefined` if the text is no time.
 */
export function replacedTime(text: string, before: Date | undefined): Date | undefined {
  const times = timesOf(text)
  const offset = before?.getTimezoneOffset()
  return times.find((time) => time.getTimezoneOffset() === offset) ?? times[0]
}
