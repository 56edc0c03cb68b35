const NAME = 'ff-shortcuts'

/** Returns `false` if the user has disabled the keyboard shortcuts. */
export function readShortcuts(): boolean {
  try {
    return localStorage.getItem(NAME) !== 'off'
  } catch {
    // The browser can refuse access to its storage.
    return true
  }
}

/** Remembers whether the keyboard shortcuts are enabled. */
export function rememberShortcuts(isEnabled: boolean): void {
  try {
    if (isEnabled) localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, 'off')
  } catch {
    // The setting applies until the page is closed.
  }
}
