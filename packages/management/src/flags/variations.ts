import { FlagError, type FlagValue, isFlagError, parseFlagValue } from '@ff/core'
import { isExactNumber } from '@ff/core/authoring'
import { type Flag, lossOfJson, type NewVariation, type Variation } from '@ff/protocol/management'
import { withIdOrKey } from '../access/id-or-key.ts'
import { completed } from '../changes/change-event.ts'
import { assertUnused, findDependentsOfVariation } from '../changes/dependents.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { cutPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { reorder } from './reorder.ts'

const MOST_VARIATIONS = 100

/** The use cases of variations. */
export const variationUseCases = defineUseCases({
  /** Returns one page of the flag's variations, sorted by `orderIndex`. */
  listVariations: async ({ storage, flag, query }) =>
    cutPage(await loadVariations(storage, flag.id), query),

  /**
   * Creates a variation. By default, it is the last variation of the flag, and not the default
   * variation.
   */
  async createVariation({ writer, flag, body }) {
    const siblings = await loadVariations(writer.reader, flag.id)
    if (siblings.length >= MOST_VARIATIONS) {
      throw invalid('', `A flag can have at most ${MOST_VARIATIONS} variations.`)
    }
    assertValue(flag, body.value, 'value')
    if (body.isDefault === true) await yieldDefault(writer, flag)
    const last = siblings.at(-1)?.orderIndex ?? -1
    const variation = await insertVariation(writer, flag, { orderIndex: last + 1, ...body })
    return completed('variation.created', { after: variation })
  },

  /**
   * Changes a variation. If it becomes the default variation, the previous default variation loses
   * this role.
   */
  async updateVariation({ writer, flag, variation, body, expectedRevision }) {
    if (body.value !== undefined && body.value !== variation.value)
      assertValue(flag, body.value, 'value')
    if (body.isDefault === false && variation.isDefault) {
      throw invalid('is_default', 'must stay true until another variation is the default')
    }
    if (body.isDefault === true && !variation.isDefault) await yieldDefault(writer, flag)
    const after = await writer.update('variation', variation, body, expectedRevision)
    return completed('variation.updated', { before: variation, after })
  },

  /** Deletes a variation. Throws `CONFLICT` if it is the default variation or in use. */
  async deleteVariation({ writer, flag, variation, expectedRevision }) {
    await writer.remove('variation', variation, expectedRevision)
    if (variation.isDefault) {
      throw new FlagError(
        'CONFLICT',
        'The default variation cannot be deleted. Set another default first.',
      )
    }
    assertUnused('variation', await findDependentsOfVariation(writer.reader, flag, variation))
    return completed('variation.deleted', { before: variation })
  },

  /**
   * Reorders variations and returns all variations of the flag. Variations that the request does
   * not list keep their index.
   */
  async reorderVariations({ writer, flag, body }) {
    const all = await loadVariations(writer.reader, flag.id)
    const moved = await reorder(writer, 'variation', all, body)
    const result = await loadVariations(writer.reader, flag.id)
    return completed('variation.reordered', moved, { id: flag.id, result })
  },
})

/** Loads all variations of a flag, sorted by `orderIndex`. */
export async function loadVariations(reader: Reader, flagId: string): Promise<Variation[]> {
  const sort = { field: 'orderIndex', direction: 'asc' } as const
  return [...(await reader.list('variation', { where: { flagId }, sort })).data]
}

/**
 * Returns the id of the variation with an id or a key. Throws `INVALID_REQUEST`, with the path
 * `field`, if there is none.
 */
export function variationIdOf(
  variations: readonly Variation[],
  text: string,
  field: string,
  owner = 'this flag',
): string {
  const found = withIdOrKey(variations, text)
  if (found !== undefined) return found.id
  throw invalid(field, `must be the id or the key of a variation of ${owner}`)
}

/**
 * Inserts the variations of a new flag. The first variation is the default unless another one has
 * `isDefault`.
 */
export async function insertVariations(
  writer: RecordWriter,
  flag: Flag,
  variations: readonly NewVariation[],
): Promise<readonly Variation[]> {
  const marked = variations.flatMap(({ isDefault }, index) => (isDefault === true ? index : []))
  if (marked[1] !== undefined) {
    throw invalid(`variations.${marked[1]}.is_default`, 'must be true for one variation only')
  }
  const keys = new Set<string>()
  const inserted: Variation[] = []
  for (const [index, variation] of variations.entries()) {
    if (keys.has(variation.key)) throw invalid(`variations.${index}.key`, 'is already taken')
    keys.add(variation.key)
    assertValue(flag, variation.value, `variations.${index}.value`)
    const fields = { orderIndex: index, ...variation, isDefault: index === (marked[0] ?? 0) }
    inserted.push(await insertVariation(writer, flag, fields))
  }
  return inserted
}

/**
 * Returns the id of the variation that a flag serves in a new environment while the flag is off:
 * for a boolean flag, the first variation with the value `false`; for any other flag, the default
 * variation. Returns `null` if there is no such variation.
 */
export function initialOffVariationId(
  { type }: Flag,
  variations: readonly Variation[],
): string | null {
  const found = variations.find(({ value, isDefault }) =>
    type === 'boolean' ? parseFlagValue(type, value) === false : isDefault,
  )
  return found?.id ?? null
}

function insertVariation(
  writer: RecordWriter,
  { id: flagId, projectId }: Flag,
  { key, name, description, value, isDefault, orderIndex }: NewVariation,
): Promise<Variation> {
  return writer.insert('variation', {
    flagId,
    projectId,
    key,
    name: name ?? key,
    description: description ?? '',
    value,
    isDefault: isDefault ?? false,
    orderIndex: orderIndex ?? 0,
  })
}

async function yieldDefault(writer: RecordWriter, { id: flagId }: Flag): Promise<void> {
  const { data } = await writer.reader.list('variation', { where: { flagId, isDefault: true } })
  for (const each of data) await writer.update('variation', each, { isDefault: false })
}

function assertValue({ type }: Flag, text: string, field: string): void {
  const value = readValue(type, text, field)
  if (typeof value === 'number' && type === 'number' && !isExactNumber(value)) {
    const bounds = `from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`
    throw invalid(field, `cannot be represented exactly; an integer must be ${bounds}`)
  }
  const loss = type === 'json' ? lossOfJson(text) : undefined
  if (loss !== undefined) throw invalid(field, loss)
}

function readValue(type: Flag['type'], text: string, field: string): FlagValue {
  try {
    return parseFlagValue(type, text)
  } catch (error) {
    throw isFlagError(error) ? invalid(field, error.message) : error
  }
}
