/**
 * Runs a task, but never twice at the same time. Calls during a run share one further run, because
 * the current run may have read its data before the change that caused the call.
 */
export class CoalescedTask {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /**
   * Runs the task, or waits for a run that starts after this call. Resolves or rejects with that
   * run.
   */
  run(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#after(this.#running)
    return this.#next
  }

  /** The run in progress; `undefined` if there is none. */
  get running(): Promise<void> | undefined {
    return this.#running
  }

  /** The last run that was requested and has not ended; `undefined` if there is none. */
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
