/**
 * Runs a task one at a time. Calls during a run share one further run, because the present one may
 * have read before the change that the caller knows of.
 */
export class CoalescedTask {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Resolves, or rejects as the task does, after a run that began no earlier than this call. */
  run(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#after(this.#running)
    return this.#next
  }

  /** The last run that was requested and has not ended. */
  get pending(): Promise<void> | undefined {
    return this.#next ?? this.#running
  }

  async #after(running: Promise<void>): Promise<void> {
    await running.catch(() => undefined)
    this.#next = undefined
    return this.#running ?? this.#start()
  }

  #start(): Promise<void> {
    const run = this.#task().finally(() => {
      this.#running = undefined
    })
    this.#running = run
    return run
  }
}
