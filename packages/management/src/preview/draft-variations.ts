import type { NewVariation } from '@ff/protocol/management'
import { findByIdOrKey } from '../access/id-or-key.ts'
import { notFound } from '../access/permissions.ts'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import { loadVariations, variationUseCases } from '../flags/variations.ts'
import { given } from '../requests/filters.ts'
import { assertDistinct, withinField } from '../requests/validation.ts'

interface FlagInput {
  readonly services: ChangeServices
  readonly call: ChangeCall
  readonly params: { readonly projectId: string; readonly flagId: string }
}

/**
 * Replaces the variations of a flag. Variations with a known key are changed, those with a new key
 * are created, and all others are deleted. The default variation is set before others are changed.
 */
export async function replaceVariations(
  { services, call, params }: FlagInput,
  wanted: readonly NewVariation[],
): Promise<void> {
  const { storage } = services
  assertDistinct(
    wanted.map(({ key }) => key),
    (index) => `variations.${index}.key`,
  )
  const parent = { projectId: params.projectId }
  const flag = await findByIdOrKey(storage, 'flag', { text: params.flagId, parent })
  if (flag === undefined) throw notFound('flag')
  const present = await loadVariations(storage, flag.id)
  const known = new Map(present.map(({ key, id }) => [key, id]))
  const places = [...wanted.entries()].sort(([, a], [, b]) => rank(a) - rank(b))
  for (const [index, { key, ...fields }] of places) {
    const variationId = known.get(key)
    const changes = given({ orderIndex: index, ...fields })
    await withinField(`variations.${index}`, () => {
      if (variationId === undefined) {
        const body = { ...changes, key, value: fields.value }
        return variationUseCases.createVariation(services, call, { params, body })
      }
      const place = { ...params, variationId }
      return variationUseCases.updateVariation(services, call, { params: place, body: changes })
    })
  }
  const keys = new Set(wanted.map(({ key }) => key))
  for (const { key, id: variationId } of present) {
    if (keys.has(key)) continue
    await variationUseCases.deleteVariation(services, call, { params: { ...params, variationId } })
  }
}

function rank({ isDefault }: NewVariation): number {
  return isDefault === true ? 0 : 1
}
