import type { FlagView } from '@ff/protocol/management'
import { lossOfJson } from '@ff/protocol/management'
import { fields } from '../../../messages/en/fields.ts'
import { jsonFaultAt } from './json-fault.ts'

const { faults } = fields.variations

/** Returns the fault of the value of a variation. `undefined` if there is none. */
export function variationFault(type: FlagView['type'], value: string): string | undefined {
  if (type === 'string') return undefined
  if (type === 'boolean') return /^(true|false)$/.test(value) ? undefined : faults.boolean
  return type === 'number' ? numberFault(value) : jsonFault(value)
}

function numberFault(value: string): string | undefined {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(value.trim())) return faults.number
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? faults.inexact : undefined
}

function jsonFault(value: string): string | undefined {
  const position = jsonFaultAt(value)
  if (position !== undefined) return faults.json(placeAt(value, position))
  return lossOfJson(value)
}

/** Returns the line and the column of a position, both from 1. */
function placeAt(text: string, position: number) {
  const before = text.slice(0, position).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
