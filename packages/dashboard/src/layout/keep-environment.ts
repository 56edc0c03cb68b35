/** Returns the search parameters that stay when another page is opened: the environment. */
export function keepEnvironment(search: { readonly env?: string | undefined }) {
  return search.env === undefined ? {} : { env: search.env }
}
