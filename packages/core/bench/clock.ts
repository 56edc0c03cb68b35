/** Starts a clock. The returned function returns the nanoseconds since the start. */
export function startClock(): () => number {
  const start = process.hrtime.bigint()
  const used = process.cpuUsage()
  return () => {
    const passed = Number(process.hrtime.bigint() - start)
    const { user, system } = process.cpuUsage(used)
    // On a busy machine, elapsed time includes waiting for the CPU. CPU time includes the work of
    // helper threads, such as the garbage collector. Therefore the lesser of both is used.
    return process.platform === 'win32' ? passed : Math.min(passed, (user + system) * 1000)
  }
}
