import styles from './variation.module.css'

const COLOURS = 8

/** Returns the class with the colour of a variation, by its position among those of the flag. */
export function variationColour(index: number): string {
  return styles[`colour${index % COLOURS}`] ?? ''
}

/** The properties of `VariationChip`. */
export interface VariationChipProps {
  readonly name: string
  /** The position of the variation among those of the flag. */
  readonly index: number
}

/** The name of a variation with its colour. */
export function VariationChip({ name, index }: VariationChipProps) {
  return (
    <span className={`${styles.chip} ${variationColour(index)}`}>
      <span className={styles.mark} aria-hidden="true" />
      <bdi className={styles.name}>{name}</bdi>
    </span>
  )
}
