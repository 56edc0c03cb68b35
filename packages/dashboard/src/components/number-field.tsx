import { type KeyboardEvent, useState } from 'react'
import { messages } from '../messages/messages.ts'
import { isAmbiguous, numberIn, numberText } from './number-text.ts'
import { TextField } from './text-field.tsx'

const { ambiguous, notANumber, range } = messages.components
const DIRECTIONS: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowDown: -1 }

/** The properties of `NumberField`. */
export interface NumberFieldProps {
  readonly label: string
  readonly value: number | null | undefined
  /**
   * Receives each number while it is typed, also one outside of the range, for which the field shows
   * a fault. Receives `undefined` when the field is emptied, or when a comma can have two meanings.
   */
  readonly onChange: (value: number | undefined) => void
  readonly minValue: number
  readonly maxValue?: number
  readonly error?: string | undefined
  readonly isLabelHidden?: boolean
  readonly autoFocus?: boolean
}

/** A field for a number. The arrow keys change it by 1. */
export function NumberField({ value, onChange, minValue, maxValue, ...rest }: NumberFieldProps) {
  const [typed, setTyped] = useState<string>()
  const faultIn = (entered: string) => faultOf(entered, minValue, maxValue)
  // The typed text is shown until the value is changed elsewhere.
  const isTyped = (entered: string) =>
    entered.trim() === '' || faultIn(entered) !== undefined || numberIn(entered) === value
  const text = typed !== undefined && isTyped(typed) ? typed : numberText(value)
  const fault = faultIn(text)
  const type = (next: string) => {
    setTyped(next)
    const number = isAmbiguous(next, maxValue) ? undefined : numberIn(next)
    const isNone = next.trim() === '' || isAmbiguous(next, maxValue)
    if (number !== undefined || isNone) onChange(number)
  }
  const press = (event: KeyboardEvent) => {
    const direction = DIRECTIONS[event.key]
    if (direction === undefined) return
    event.preventDefault()
    setTyped(undefined)
    onChange(Math.min(Math.max((value ?? 0) + direction, minValue), maxValue ?? Infinity))
  }
  return (
    <TextField
      {...rest}
      value={text}
      onChange={type}
      onKeyDown={press}
      // A text with a fault stays, so that the fault is seen.
      onBlur={() => fault === undefined && setTyped(undefined)}
      inputMode="decimal"
      autoComplete="off"
      error={rest.error ?? fault}
    />
  )
}

function faultOf(text: string, minValue: number, maxValue: number | undefined) {
  if (text.trim() === '') return undefined
  if (isAmbiguous(text, maxValue)) return ambiguous
  const number = numberIn(text)
  if (number === undefined) return notANumber
  const isWithin = number >= minValue && number <= (maxValue ?? number)
  return isWithin ? undefined : range(minValue, maxValue)
}
