/** The beginning of the keys of all stored drafts. A key contains the id of its user as JSON. */
const PREFIX = 'ff-draft:'

/** Returns `true` if this tab has stored drafts. */
export function hasDrafts(): boolean {
  return keys().length > 0
}

/** Removes the stored drafts of every user. */
export function clearDrafts(): void {
  for (const key of keys()) sessionStorage.removeItem(key)
}

/** Removes the stored drafts of every user but one. */
export function clearDraftsOfOthers(userId: string): void {
  const own = JSON.stringify(userId)
  for (const key of keys()) if (!key.includes(own)) sessionStorage.removeItem(key)
}

function keys(): readonly string[] {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX))
  } catch {
    // The browser can refuse access to its storage; then there are no drafts in it.
    return []
  }
}
