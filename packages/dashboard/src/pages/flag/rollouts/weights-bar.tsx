import type { KeyboardEvent, PointerEvent } from 'react'
import type { Share } from '../../../components/share-bar.tsx'
import { variationColour } from '../../../components/variation-chip.tsx'
import { targeting } from '../../../messages/en/targeting.ts'
import { classNames } from '../../../style/class-names.ts'
import { endOf, keyStep, limitsOf, withEnd } from './weights.ts'
import styles from './weights-bar.module.css'

/** The properties of `WeightsBar`. */
export interface WeightsBarProps {
  readonly shares: readonly Share[]
  readonly onChange: (weights: readonly number[]) => void
}

/**
 * A bar that is divided by shares, with a handle at the end of each. The last handle is missing if
 * the shares of several variations fill the bar.
 */
export function WeightsBar({ shares, onChange }: WeightsBarProps) {
  const weights = shares.map(({ percent }) => percent)
  const isFull = shares.length > 1 && endOf(weights, weights.length - 1) >= 100
  const handles = isFull ? shares.slice(0, -1) : shares
  return (
    <div className={styles.bar}>
      {shares.map(({ id, index, percent }) => (
        <span
          key={id}
          className={classNames(styles.share, variationColour(index))}
          style={{ width: `${Math.min(percent, 100)}%` }}
        />
      ))}
      {handles.map((share, position) => (
        <Handle
          key={share.id}
          share={share}
          position={position}
          weights={weights}
          onChange={onChange}
        />
      ))}
    </div>
  )
}

interface HandleProps {
  readonly share: Share
  readonly position: number
  readonly weights: readonly number[]
  readonly onChange: (weights: readonly number[]) => void
}

function Handle({ share, position, weights, onChange }: HandleProps) {
  const end = endOf(weights, position)
  const [least, most] = limitsOf(weights, position)
  const moveTo = (to: number) => onChange(withEnd(weights, position, to))
  const press = (event: KeyboardEvent) => {
    const step = keyStep(event)
    if (step === undefined) return
    event.preventDefault()
    moveTo(end + step)
  }
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const bar = event.currentTarget.parentElement?.getBoundingClientRect()
    if (bar === undefined || bar.width === 0) return
    const unit = event.shiftKey ? 10 : 1
    const at = ((event.clientX - bar.left) / bar.width) * 100
    moveTo(Math.round(at * unit) / unit)
  }
  return (
    <span
      role="slider"
      tabIndex={0}
      className={styles.handle}
      style={{ left: `${Math.min(end, 100)}%` }}
      aria-label={targeting.rollout.shareOf(share.name)}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, most - least)}
      aria-valuenow={share.percent}
      aria-valuetext={targeting.rollout.percentOf(share.percent)}
      onKeyDown={press}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
    />
  )
}
