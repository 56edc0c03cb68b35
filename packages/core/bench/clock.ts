/** Starts a clock; the answer tells the nanoseconds since then. */
export function startClock(): () => number {
  const start = process.hrtime.bigint()
  const used = process.cpuUsage()
  return () => {
    const passed = Number(process.hrtime.bigint() - start)
    const { user, system } = process.cpuUsage(used)
    // On a busy machine a long call waits for the processor again and again, and a short one does
    // not. Processor time tells what it took, unless helpers worked beside it; so the lesser.
    return process.platform === 'win32' ? passed : Math.min(passed, (user + system) * 1000)
  }
}
