import { useSyncExternalStore } from 'react'
import { shownTheme, type Theme } from './theme.ts'

/** Returns the theme of the page, and renders again after each change. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, shownTheme)
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}
