import { messages } from '../messages/messages.ts'
import styles from './variation.module.css'
import { variationColour } from './variation-chip.tsx'

/** The share of one variation. */
export interface Share {
  readonly id: string
  readonly name: string
  /** The position of the variation among those of the flag. */
  readonly index: number
  /** 0 to 100. */
  readonly percent: number
}

const percentFormat = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 3,
})

/** A bar that is divided by shares. Screen readers read the names and the numbers. */
export function ShareBar({ shares }: { readonly shares: readonly Share[] }) {
  const text = shares.map(({ name, percent }) => {
    return messages.components.share(name, percentFormat.format(percent / 100))
  })
  const label = text.length === 0 ? messages.components.noShare : text.join(', ')
  const starts = shares.map((_, index) => {
    return shares.slice(0, index).reduce((sum, { percent }) => sum + percent, 0)
  })
  return (
    <svg
      className={styles.bar}
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <rect className={styles.rest} width="100" height="6" />
      {shares.map(({ id, index, percent }, position) => (
        <rect
          key={id}
          className={variationColour(index)}
          fill="currentColor"
          x={starts[position]}
          width={percent}
          height="6"
        />
      ))}
    </svg>
  )
}
