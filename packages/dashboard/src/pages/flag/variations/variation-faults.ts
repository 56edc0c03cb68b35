/** The faults of a variation that can be found in the page. */
export interface VariationFaults {
  readonly key?: string | undefined
  readonly value?: string | undefined
}
