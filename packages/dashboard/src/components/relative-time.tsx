import { useEffect, useState } from 'react'
import { useTip } from '../popups/use-tip.tsx'

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'long' })
const REFRESH_MS = 30_000

/** What can have the focus itself; a time in it is no stop of its own. */
const CONTROL = 'a, button, [role="option"], [role="menuitem"], [role="tab"]'

/** A time relative to now, with the exact time on hover, on focus, and for screen readers. */
export function RelativeTime({ time }: { readonly time: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const full = exactTime(time)
  const { trigger, tip } = useTip<HTMLTimeElement>(full)
  const { ref } = trigger
  useEffect(() => {
    const element = ref.current
    if (element !== null && element.parentElement?.closest(CONTROL) == null) element.tabIndex = 0
  }, [ref])
  return (
    <>
      <time dateTime={time} {...trigger}>
        {relativeTime(time, now)}
        <span className="visually-hidden"> ({full})</span>
      </time>
      {tip}
    </>
  )
}

/** Returns a time in words, with its zone. */
export function exactTime(time: string): string {
  return exact.format(new Date(time))
}

/** Returns a time relative to `now`, a Unix time in milliseconds, in words. */
export function relativeTime(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1000
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return relative.format(0, 'second')
}
