import { messages } from '../../messages/messages.ts'
import { Select } from '../select.tsx'
import { TextField } from '../text-field.tsx'
import { localText, replacedTime, timesOf } from './local-time.ts'

/** The properties of `DateTimeField`. */
export interface DateTimeFieldProps {
  readonly label: string
  /** An RFC 3339 time; empty for none. */
  readonly value: string
  /** Called with the time in UTC, or with an empty text. */
  readonly onChange: (time: string) => void
  readonly error?: string | undefined
  readonly isLabelHidden?: boolean
}

const zoned = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
})
const zoneName = new Intl.DateTimeFormat(undefined, { timeZoneName: 'longOffset' })

/** A field for a date and a local time, with its zone and offset, and UTC beside it. */
export function DateTimeField(props: DateTimeFieldProps) {
  const { label, value, onChange, error, isLabelHidden = false } = props
  const time = value === '' ? undefined : timeIn(value)
  const text = time === undefined ? '' : localText(time)
  const times = timesOf(text)
  const hint = value === '' ? undefined : timeInZones(value)
  return (
    <>
      <TextField
        type="datetime-local"
        label={label}
        isLabelHidden={isLabelHidden}
        value={text}
        onChange={(next) => onChange(replacedTime(next, time)?.toISOString() ?? '')}
        hint={hint}
        error={error}
      />
      {times.length > 1 && (
        <Select
          label={messages.components.repeatedHour}
          options={times.map((each) => ({
            id: each.toISOString(),
            name: timeInZones(each.toISOString()),
          }))}
          value={
            times
              .find((each) => each.getTimezoneOffset() === time?.getTimezoneOffset())
              ?.toISOString() ?? null
          }
          onChange={onChange}
        />
      )}
    </>
  )
}

function timeIn(value: string): Date | undefined {
  const time = new Date(value)
  return Number.isFinite(time.getTime()) ? time : undefined
}

/** Returns a time in words: local with its zone and offset, and in UTC. */
export function timeInZones(value: string): string {
  const time = new Date(value)
  if (!Number.isFinite(time.getTime())) return value
  const zone = zoneName.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const { timeZone } = zoned.resolvedOptions()
  const utc = `${time.toISOString().slice(0, 16).replace('T', ' ')}`
  return messages.components.timeInZones(zoned.format(time), `${timeZone}, ${zone}`, utc)
}
