import { type RefObject, useEffect, useRef } from 'react'

const PROPERTY = '--bottom-bar'

/**
 * Moves the messages above a bar at the end of the window, while the bar is shown, and keeps the
 * bar from covering the field that has the focus.
 */
export function useBottomBar(): RefObject<HTMLDivElement | null> {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { style } = document.documentElement
    const height = bar.current?.offsetHeight ?? 0
    style.setProperty(PROPERTY, `${height}px`)
  })
  useEffect(() => {
    return () => {
      document.documentElement.style.removeProperty(PROPERTY)
    }
  }, [])
  return bar
}
