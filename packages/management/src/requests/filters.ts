import type { Kind, ListQuery } from '@ff/storage'

type Given<T> = { [F in keyof T]?: Exclude<T[F], undefined> }

/** Returns the fields that are not `undefined`. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<T>
}

/**
 * Returns the range of a list from one timestamp to another. Both ends are inclusive and optional.
 */
export function rangeOf<K extends Kind>(
  field: NonNullable<ListQuery<K>['range']>['field'],
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): NonNullable<ListQuery<K>['range']> {
  // The end of a range is exclusive. `~` sorts after every character of a timestamp.
  return { field, ...given({ from, to: to && `${to}~` }) }
}
