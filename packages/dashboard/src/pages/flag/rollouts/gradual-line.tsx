import type { GradualStep } from '../../../draft/rollout-moves.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import styles from './rollouts.module.css'

const WIDTH = 300
const HEIGHT = 60
const SHOWN_STEPS = 12

/** The steps of a gradual rollout as a line to their end. The first steps are also listed. */
export function GradualLine({ steps }: { readonly steps: readonly GradualStep[] }) {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined) return null
  const span = Math.max(1, last.at - first.at) * 1.1
  const points = steps.map(({ at, percentage }) => {
    const x = ((at - first.at) / span) * WIDTH
    return `H${x.toFixed(1)} V${(HEIGHT - (percentage / 100) * HEIGHT).toFixed(1)}`
  })
  const label = targeting.rollout.chart(steps.length, last.percentage)
  return (
    <>
      <svg
        className={styles.chart}
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <title>{label}</title>
        <path className={styles.path} d={`M0 ${HEIGHT} ${points.join(' ')} H${WIDTH}`} />
      </svg>
      <ol className="visually-hidden">
        {steps.slice(0, SHOWN_STEPS).map(({ at, percentage }) => (
          <li key={at}>{targeting.rollout.step(at, percentage)}</li>
        ))}
      </ol>
    </>
  )
}
