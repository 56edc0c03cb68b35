/** The clock of the store that several machines share. */
export interface StoreTime {
  /** Returns the present time of the store in epoch milliseconds. */
  now(): Promise<number>
}
