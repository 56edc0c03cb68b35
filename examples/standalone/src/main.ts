/** The signals that end the program. The first one is kept until the program can react. */
const stopRequested = new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
})

// The modules are loaded afterwards: a container sends signals during the start, too, and the first
// process of a container never receives a signal that it does not handle.
const { runProgram } = await import('./program.ts')
await runProgram(stopRequested)

export {}
