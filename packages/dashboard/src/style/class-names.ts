/** Joins the names of CSS classes, and leaves out those that do not apply. */
export function classNames(...names: readonly (string | false | undefined)[]): string {
  return names.filter((name) => name !== undefined && name !== false).join(' ')
}
