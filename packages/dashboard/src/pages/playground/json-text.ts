import { messages } from '../../messages/messages.ts'

const { jsonFault, jsonFaults } = messages.playground

/** The result of parsing JSON text: its value, or the fault with its position. */
export type ParsedJson =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly fault: string }

/** Parses JSON text. The fault names the line and the column, counted from 1. */
export function parseJsonText(text: string): ParsedJson {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { fault: faultOf(text, error instanceof Error ? error.message : '') }
  }
}

function faultOf(text: string, message: string): string {
  const position = positionOf(text, message)
  const before = text.slice(0, position).split('\n')
  const column = (before.at(-1)?.length ?? 0) + 1
  return jsonFault(reasonOf(text, message, position), before.length, column)
}

/** Returns the position in the message of the browser; without one, the end of the text. */
function positionOf(text: string, message: string): number {
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? []
  if (line !== undefined && column !== undefined) {
    const lines = text.split('\n').slice(0, Number(line) - 1)
    return lines.reduce((sum, each) => sum + each.length + 1, 0) + Number(column) - 1
  }
  const token = /token '?(\S)'?,/.exec(message)?.[1]
  return token === undefined || /end of/i.test(message) ? text.length : text.indexOf(token)
}

function reasonOf(text: string, message: string, position: number): string {
  if (position >= text.length) return jsonFaults.end
  const [character] = text.slice(position, position + 2)
  return character === undefined || message === ''
    ? jsonFaults.unknown
    : jsonFaults.character(character)
}
