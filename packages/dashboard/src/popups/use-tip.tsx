import {
  type FocusEvent,
  lazy,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react'

const HOVER_MS = 300

const Tip = lazy(async () => ({ default: (await import('./tip.tsx')).Tip }))

/** The properties of the element that a tip explains. */
export interface TipTrigger<Element extends HTMLElement> {
  readonly ref: RefObject<Element | null>
  readonly onPointerEnter: (event: PointerEvent) => void
  readonly onPointerLeave: () => void
  readonly onFocus: (event: FocusEvent) => void
  readonly onBlur: () => void
}

/**
 * Returns the properties of an element, and the tip that explains it on hover and on keyboard focus.
 * Escape closes it. The text must also be part of the page, because a tip is not read on touch.
 */
export function useTip<Element extends HTMLElement>(
  text: string,
): { readonly trigger: TipTrigger<Element>; readonly tip: ReactNode } {
  const ref = useRef<Element>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [isOpen, setOpen] = useState(false)
  const change = (value: boolean, delay = 0) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setOpen(value), delay)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const trigger = {
    ref,
    onPointerEnter: ({ pointerType }: PointerEvent) =>
      pointerType !== 'touch' && change(true, HOVER_MS),
    onPointerLeave: () => change(false, HOVER_MS),
    onFocus: ({ target }: FocusEvent) => change(target.matches(':focus-visible')),
    onBlur: () => change(false),
  }
  const tip = isOpen && (
    <Suspense fallback={null}>
      <Tip
        text={text}
        trigger={ref}
        onClose={() => change(false)}
        onHover={(isHovered) => change(isHovered, isHovered ? 0 : HOVER_MS)}
      />
    </Suspense>
  )
  return { trigger, tip }
}
