/** Calls a task in a later turn of the event loop. */
export function inNextTurn(task: () => void): void {
  // Only Node has `setImmediate`, which runs sooner than any timer.
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}
