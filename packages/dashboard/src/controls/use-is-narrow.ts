import { useSyncExternalStore } from 'react'

const NARROW = '(max-width: 720px)'

/** Returns `true` in a narrow window, in which tables are shown as cards. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => window.matchMedia(NARROW).matches)
}

function subscribe(listener: () => void): () => void {
  const query = window.matchMedia(NARROW)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}
