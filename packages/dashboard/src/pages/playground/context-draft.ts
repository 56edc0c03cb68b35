import { messages } from '../../messages/messages.ts'
import { parseJsonText } from './json-text.ts'

const { faults } = messages.playground

/** The type of the value of an attribute in the form. */
export type AttributeType = 'text' | 'number' | 'boolean' | 'json'

/** An attribute in the form. */
export interface AttributeDraft {
  /** Identifies the row while it is edited. */
  readonly id: string
  readonly name: string
  readonly type: AttributeType
  readonly text: string
}

/** The part of a context that belongs to one kind. */
export interface PartDraft {
  readonly id: string
  readonly kind: string
  /** Empty for a context without a key. */
  readonly key: string
  readonly attributes: readonly AttributeDraft[]
}

/** A context as it is edited: parts in a form, or JSON text. */
export interface ContextDraft {
  readonly mode: 'form' | 'json'
  readonly parts: readonly PartDraft[]
  readonly json: string
}

/** The context of a draft, or its faults by the id of the row and the name of the field. */
export interface ReadContext {
  /** `undefined` if the draft has a fault. */
  readonly context: object | undefined
  readonly faults: ReadonlyMap<string, string>
}

let lastId = 0

/** Returns an id for a row, which is unique in the page. */
export function newRowId(): string {
  lastId += 1
  return `row-${lastId}`
}

/** Returns the draft of a user with a key. */
export function startContextDraft(key: string): ContextDraft {
  return { mode: 'form', parts: [{ id: newRowId(), kind: 'user', key, attributes: [] }], json: '' }
}

/** Returns the context that a draft describes. */
export function readContextDraft({ mode, parts, json }: ContextDraft): ReadContext {
  if (mode === 'json') {
    const parsed = parseJsonText(json)
    const fault = parsed.fault ?? (isObject(parsed.value) ? undefined : faults.object)
    if (fault !== undefined) return { context: undefined, faults: new Map([['json', fault]]) }
    return { context: (parsed as { value: object }).value, faults: new Map() }
  }
  const found = new Map(parts.flatMap((part) => partFaults(part, parts)))
  return { context: found.size > 0 ? undefined : contextOf(parts), faults: found }
}

/** Returns the parts of a context, for the form. */
export function partsOf(context: object): readonly PartDraft[] {
  const { kind, ...others } = context as Readonly<Record<string, unknown>>
  if (kind !== 'multi') return [partOf(typeof kind === 'string' ? kind : '', others)]
  return Object.entries(others).map(([name, part]) => partOf(name, isObject(part) ? part : {}))
}

/** Returns a draft in the other mode. A draft with a fault keeps its mode. */
export function withMode(draft: ContextDraft, mode: ContextDraft['mode']): ContextDraft {
  const { context } = readContextDraft(draft)
  if (mode === draft.mode) return draft
  if (mode === 'json') {
    return { ...draft, mode, json: JSON.stringify(context ?? contextOf(draft.parts), null, 2) }
  }
  return context === undefined ? draft : { ...draft, mode, parts: partsOf(context) }
}

function contextOf(parts: readonly PartDraft[]): object {
  const [first] = parts
  if (parts.length === 1 && first !== undefined) return { kind: first.kind, ...attributesOf(first) }
  const entries = parts.map((part) => [part.kind, attributesOf(part)])
  return Object.fromEntries([['kind', 'multi'], ...entries])
}

// `fromEntries` makes an ordinary property of the name `__proto__`.
function attributesOf({ key, attributes }: PartDraft): object {
  const named = attributes.filter((attribute) => !isBlank(attribute))
  const entries = named.map(({ name, type, text }) => [name, typedValue(type, text)])
  return Object.fromEntries([...(key === '' ? [] : [['key', key]]), ...entries])
}

/** An attribute that was just added is not part of the context until something is entered. */
function isBlank({ name, text }: AttributeDraft): boolean {
  return name === '' && text === ''
}

function typedValue(type: AttributeType, text: string): unknown {
  if (type === 'text') return text
  const parsed = parseJsonText(text)
  return parsed.fault === undefined ? parsed.value : null
}

function partOf(kind: string, { key, ...others }: Readonly<Record<string, unknown>>): PartDraft {
  const attributes = Object.entries(others).map(([name, value]): AttributeDraft => {
    const type = typeOf(value)
    return { id: newRowId(), name, type, text: type === 'text' ? `${value}` : textOf(value) }
  })
  const hasKey = key !== undefined && key !== null
  return { id: newRowId(), kind, key: hasKey ? String(key) : '', attributes }
}

function textOf(value: unknown): string {
  return JSON.stringify(value)
}

function typeOf(value: unknown): AttributeType {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number' || typeof value === 'boolean') {
    return typeof value as 'number' | 'boolean'
  }
  return 'json'
}

type Fault = readonly [string, string]

function partFaults(
  { id, kind, attributes }: PartDraft,
  parts: readonly PartDraft[],
): readonly Fault[] {
  const isTwice = parts.some((other) => other.id !== id && other.kind === kind)
  const fault =
    kind === '' ? faults.kind : kind === 'multi' ? faults.multi : isTwice ? faults.kindTwice : null
  const named = attributes.filter((attribute) => !isBlank(attribute))
  const found = named.flatMap((attribute) => attributeFaults(attribute, named))
  return fault === null ? found : [[`${id}.kind`, fault], ...found]
}

function attributeFaults(
  { id, name, type, text }: AttributeDraft,
  attributes: readonly AttributeDraft[],
): readonly Fault[] {
  const isTwice = attributes.some((other) => other.id !== id && other.name === name)
  const nameFault = name === '' ? faults.name : isTwice ? faults.nameTwice : undefined
  const valueFault = valueFaultOf(type, text)
  return [
    ...(nameFault === undefined ? [] : [[`${id}.name`, nameFault] as const]),
    ...(valueFault === undefined ? [] : [[`${id}.value`, valueFault] as const]),
  ]
}

function valueFaultOf(type: AttributeType, text: string): string | undefined {
  if (type === 'text') return undefined
  const parsed = parseJsonText(text)
  if (type === 'json') return parsed.fault
  const value = parsed.fault === undefined ? parsed.value : undefined
  return typeOf(value) === type ? undefined : faults[type]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
