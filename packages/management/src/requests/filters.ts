import type { Kind, ListQuery } from '@ff/storage'

type Given<T> = { [F in keyof T]?: Exclude<T[F], undefined> }

/** Returns the fields that are not `undefined`. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<T>
}

/** Returns the range of a list from one timestamp to another, both included if given. */
export function rangeOf<K extends Kind>(
  field: NonNullable<ListQuery<K>['range']>['field'],
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): NonNullable<ListQuery<K>['range']> {
  // No timestamp sorts between one and the same with a `~`, so the range includes the last one.
  return { field, ...given({ from, to: to && `${to}~` }) }
}
