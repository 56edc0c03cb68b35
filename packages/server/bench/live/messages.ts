import type { ChildProcess } from 'node:child_process'

/** The SDK key of all clients. */
export const SDK_KEY = `ff_${'0123456789abcdef'.repeat(4)}`

/** A request from the main process to another process of this benchmark. */
interface Question {
  readonly ask: string
  readonly count: number
}

/** A response: numbers by name. */
export type Answer = Readonly<Record<string, number>>

/** Returns the time in milliseconds, on a scale that all processes of a machine share. */
export function instant(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Responds to the requests of the parent process. */
export function answerAll(
  answers: Readonly<Record<string, (count: number) => Promise<Answer>>>,
): void {
  process.on('message', ({ ask, count }: Question) => {
    void answers[ask]?.(count).then((answer) => process.send?.(answer))
  })
  process.on('disconnect', () => process.exit())
  process.send?.({})
}

/** Sends a request to a process and resolves with its response. */
export function ask(child: ChildProcess, question: string, count = 0): Promise<Answer> {
  const answer = answerOf(child)
  child.send({ ask: question, count } satisfies Question)
  return answer
}

/** Resolves with the next response of a process. */
export function answerOf(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('A process of the benchmark has ended'))
    child.once('exit', ended)
    child.once('message', (answer: Answer) => {
      child.off('exit', ended)
      resolve(answer)
    })
  })
}

/** Waits for a number of milliseconds. */
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
