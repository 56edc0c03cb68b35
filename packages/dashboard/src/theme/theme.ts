/** A theme; `system` follows the setting of the device. */
export type Theme = 'system' | 'light' | 'dark'

const NAME = 'ff-theme'

/** Returns the remembered theme. */
export function readTheme(): Theme {
  try {
    const name = localStorage.getItem(NAME)
    return name === 'light' || name === 'dark' ? name : 'system'
  } catch {
    // The browser can refuse access to its storage.
    return 'system'
  }
}

/** Returns the theme in which the page is shown. */
export function shownTheme(): Theme {
  const name = document.documentElement.dataset['theme']
  return name === 'light' || name === 'dark' ? name : 'system'
}

/** Shows the page in a theme, without remembering it. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** Shows the page in a theme and remembers it. */
export function chooseTheme(theme: Theme): void {
  applyTheme(theme)
  try {
    if (theme === 'system') localStorage.removeItem(NAME)
    else localStorage.setItem(NAME, theme)
  } catch {
    // The theme applies until the page is closed.
  }
}
