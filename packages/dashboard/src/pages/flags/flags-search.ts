import type { FlagSummarySort } from '@ff/protocol/management'
import type { QueryOf } from '../../api/api-request.ts'

type Query = QueryOf<'listFlagSummaries'>

/** The names of the orders of the list, as they are in the address. */
export type SortName = `${FieldName}:${'asc' | 'desc'}`

/** The search, filters and order of the list of flags, as they are in the address. */
export interface FlagsSearch {
  readonly search?: string | undefined
  readonly tag?: string | undefined
  readonly type?: Query['type']
  readonly state?: Query['state']
  /** The key of the environment to which `state` applies. */
  readonly env?: string | undefined
  readonly sort?: SortName | undefined
  /** `true` shows the archived flags only. */
  readonly archived?: boolean | undefined
}

type FieldName = 'key' | 'name' | 'updated_at' | 'created_at'

const FIELDS: ReadonlyMap<string, FlagSummarySort['field']> = new Map([
  ['key', 'key'],
  ['name', 'name'],
  ['updated_at', 'updatedAt'],
  ['created_at', 'createdAt'],
])

/** The order without a choice. */
export const DEFAULT_SORT: SortName = 'key:asc'

/** Returns the query of a search, without its page. */
export function toQuery(search: FlagsSearch, environmentKeys: readonly string[]): Query {
  const { tag, type, state, env, sort = DEFAULT_SORT, archived = false } = search
  // An address can name an environment that no longer exists.
  const environmentId = env !== undefined && environmentKeys.includes(env) ? env : undefined
  const text = search.search?.trim()
  const words = {
    ...(text && { search: text }),
    ...(tag?.trim() && { tag: tag.trim() }),
    ...(type && { type }),
    ...(state && { state }),
    ...(environmentId && { environmentId }),
  }
  return { ...words, archived, sort: toSort(sort) }
}

function toSort(name: SortName): FlagSummarySort {
  const [field = '', direction] = name.split(':')
  return { field: FIELDS.get(field) ?? 'key', direction: direction === 'desc' ? 'desc' : 'asc' }
}

/** Returns the order after a click on a column: ascending first, then descending. */
export function nextSort(current: SortName | undefined, field: FieldName): SortName {
  return (current ?? DEFAULT_SORT) === `${field}:asc` ? `${field}:desc` : `${field}:asc`
}

/** Returns the direction in which a column is sorted, in the words of `aria-sort`. */
export function directionOf(
  current: SortName | undefined,
  field: FieldName,
): 'ascending' | 'descending' | 'none' {
  const [name, direction] = (current ?? DEFAULT_SORT).split(':')
  if (name !== field) return 'none'
  return direction === 'asc' ? 'ascending' : 'descending'
}

/** Returns `true` if a search selects some of the flags only. */
export function isFiltered({ sort: _, env: __, ...filters }: FlagsSearch): boolean {
  return Object.values(filters).some((value) => value !== undefined && value !== false)
}
