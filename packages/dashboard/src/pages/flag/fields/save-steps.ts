import type { FlagView } from '@ff/protocol/management'
import type { Api } from '../../../api/api.ts'
import type { FlagRequests } from '../../../draft/flag-edits.ts'
import { fields as texts } from '../../../messages/en/fields.ts'

/** One request of a save. */
export interface SaveStep {
  /** What the request does, in words. */
  readonly words: string
  /** The key of the variation to which its faults belong; `undefined` for the flag. */
  readonly variationKey: string | undefined
  readonly run: () => Promise<unknown>
}

/** What the requests of a save depend on. */
export interface SaveOptions {
  readonly api: Api
  readonly flag: FlagView
  /** The `ETag` of `flag`. */
  readonly etag: string | undefined
  readonly requests: FlagRequests
}

/**
 * Returns the requests that save the fields of a flag, in order. They are no transaction: after a
 * failure, the earlier ones stay.
 */
export function saveSteps(options: SaveOptions): readonly SaveStep[] {
  const { api, flag, etag, requests } = options
  const params = { projectId: flag.projectId, flagId: flag.id }
  const { update } = requests
  const fields: readonly SaveStep[] =
    update === null
      ? []
      : [
          {
            words: texts.change(Object.keys(update)),
            variationKey: undefined,
            run: () => api.call('updateFlag', { params, body: update, ifMatch: etag }),
          },
        ]
  return [...fields, ...variationSteps(options)]
}

function variationSteps({ api, flag, requests }: SaveOptions): readonly SaveStep[] {
  const params = { projectId: flag.projectId, flagId: flag.id }
  const keyOf = (id: string) => flag.variations.find((each) => each.id === id)?.key ?? id
  const created = requests.created.map((body) => ({
    words: texts.create(body.key),
    variationKey: body.key,
    run: () => api.call('createVariation', { params, body }),
  }))
  const changed = requests.changed.map(({ id: variationId, changes: body }) => ({
    words: texts.changeVariation(keyOf(variationId), Object.keys(body)),
    variationKey: keyOf(variationId),
    run: () => api.call('updateVariation', { params: { ...params, variationId }, body }),
  }))
  const deleted = requests.deleted.map((variationId) => ({
    words: texts.delete(keyOf(variationId)),
    variationKey: keyOf(variationId),
    run: () => api.call('deleteVariation', { params: { ...params, variationId } }),
  }))
  const { order } = requests
  const reorder = { words: texts.reorder, variationKey: undefined }
  const run = () => saveOrder(api, params, order ?? [])
  return [...created, ...changed, ...deleted, ...(order === null ? [] : [{ ...reorder, run }])]
}

/** Saves the order of variations. The endpoint takes ids, and those of new variations are loaded. */
async function saveOrder(
  api: Api,
  params: { readonly projectId: string; readonly flagId: string },
  keys: readonly string[],
): Promise<void> {
  const { data } = await api.call('getFlag', { params })
  const orders = keys.flatMap((key, orderIndex) => {
    const id = data.variations.find((each) => each.key === key)?.id
    return id === undefined ? [] : [{ id, orderIndex }]
  })
  await api.call('reorderVariations', { params, body: { orders } })
}
