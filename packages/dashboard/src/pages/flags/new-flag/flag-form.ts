import type { FieldIssue } from '../../../api/api-error.ts'
import type { BodyOf } from '../../../api/api-request.ts'
import { randomId } from '../../../api/random-id.ts'
import { jsonFault } from '../../../json/json-field.tsx'
import { messages } from '../../../messages/messages.ts'

/** The type of a flag. */
export type FlagType = BodyOf<'createFlag'>['type']

/** A variation in the form. */
export interface FormVariation {
  /** Identifies the row while its key is edited. */
  readonly id: string
  readonly key: string
  readonly value: string
}

/** The input of the form of a new flag. */
export interface FlagForm {
  readonly name: string
  /** The key as typed; `undefined` while it is derived from the name. */
  readonly ownKey: string | undefined
  readonly type: FlagType
  readonly variations: readonly FormVariation[]
  /** The `id` of the variation that everyone gets. */
  readonly servedId: string
  /** The ids of environments in which the flag is to be the opposite of the default. */
  readonly toggled: readonly string[]
  readonly comment: string
}

const texts = messages.newFlag
const EMPTY_VALUES = { boolean: '', string: '', number: '0', json: '{}' } as const

/** Returns the variations with which a form of a type begins. */
export function initialVariations(type: FlagType): readonly FormVariation[] {
  if (type === 'boolean') return ['true', 'false'].map((key) => ({ id: key, key, value: key }))
  return [1, 2].map((position) => newVariation(type, position))
}

/** Returns a variation that the user adds. */
export function newVariation(type: FlagType, position: number): FormVariation {
  const key = texts.initialKey(position)
  return { id: randomId(), key, value: EMPTY_VALUES[type] }
}

/** Returns an empty form. */
export function emptyForm(): FlagForm {
  const variations = initialVariations('boolean')
  return {
    ...{ name: '', ownKey: undefined, type: 'boolean', variations, servedId: 'false' },
    ...{ toggled: [], comment: '' },
  }
}

/** Returns the form with another type and the variations of this type. */
export function withType(form: FlagForm, type: FlagType): FlagForm {
  if (type === form.type) return form
  const variations = initialVariations(type)
  const servedId = type === 'boolean' ? 'false' : (variations[0]?.id ?? '')
  return { ...form, type, variations, servedId }
}

/** Returns the key of the flag: as typed, otherwise derived from the name. */
export function keyOf({ name, ownKey }: Pick<FlagForm, 'name' | 'ownKey'>): string {
  if (ownKey !== undefined) return ownKey
  const ascii = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words = ascii.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '')
  return words.slice(0, 64).replace(/-$/, '')
}

/** Returns the body of the request. */
export function toBody(form: FlagForm): BodyOf<'createFlag'> {
  const { name, type, variations, servedId } = form
  return {
    key: keyOf(form),
    name: name.trim(),
    type,
    variations: variations.map(({ id, key, value }) => ({
      key,
      value: type === 'number' ? value.trim() : value,
      isDefault: id === servedId,
    })),
  }
}

/** Returns the faults of a form that can be found without the server. */
export function formIssues(form: FlagForm, isCommentRequired: boolean): readonly FieldIssue[] {
  const issues: FieldIssue[] = []
  if (form.name.trim() === '') issues.push({ path: 'name', message: texts.nameMissing })
  if (keyOf(form) === '') issues.push({ path: 'key', message: texts.keyMissing })
  for (const [index, { value }] of form.variations.entries()) {
    const message = valueFault(form.type, value)
    if (message !== undefined) issues.push({ path: `variations.${index}.value`, message })
  }
  if (isCommentRequired && form.comment.trim() === '') {
    issues.push({ path: COMMENT_PATH, message: texts.commentMissing })
  }
  return issues
}

/** The path of the issues of the comment. */
export const COMMENT_PATH = 'X-FF-Comment'

const NUMBER = /^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/

function valueFault(type: FlagType, value: string): string | undefined {
  if (type === 'json') return jsonFault(value)
  if (type === 'number' && !NUMBER.test(value)) return texts.notNumber
  return undefined
}
