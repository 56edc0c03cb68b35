import { messages } from '../../messages/messages.ts'
import { TextField } from '../text-field.tsx'

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
  const change = (text: string) => {
    const time = new Date(text)
    onChange(Number.isFinite(time.getTime()) ? time.toISOString() : '')
  }
  const hint = value === '' ? undefined : timeInZones(value)
  return (
    <TextField
      type="datetime-local"
      label={label}
      isLabelHidden={isLabelHidden}
      value={localText(value)}
      onChange={change}
      hint={hint}
      error={error}
    />
  )
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

function localText(value: string): string {
  const time = new Date(value)
  if (value === '' || !Number.isFinite(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
