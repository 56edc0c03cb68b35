/** The beginning of the names under which the last project of each user is stored. */
const PREFIX = 'ff-project:'

/** Returns the id of the project that a user has opened last; `undefined` if there is none. */
export function readLastProject(userId: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + userId) ?? undefined
  } catch {
    // The browser can refuse access to its storage.
    return undefined
  }
}

/** Remembers the project that a user has opened. */
export function rememberProject(userId: string, projectId: string): void {
  try {
    localStorage.setItem(PREFIX + userId, projectId)
  } catch {
    // The next visit then begins with the choice of a project.
  }
}
