import type { ChildProcess } from 'node:child_process'

export const SDK_KEY = `ff_${'0123456789abcdef'.repeat(4)}`

/** What a process of this benchmark is asked by the one that reports. */
interface Question {
  readonly ask: string
  readonly count: number
}

/** Numbers by name. */
export type Answer = Readonly<Record<string, number>>

/** Milliseconds, on a scale that all processes of a machine share. */
export function instant(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Answers what the process that started this one asks. */
export function answerAll(
  answers: Readonly<Record<string, (count: number) => Promise<Answer>>>,
): void {
  process.on('message', ({ ask, count }: Question) => {
    void answers[ask]?.(count).then((answer) => process.send?.(answer))
  })
  process.on('disconnect', () => process.exit())
  process.send?.({})
}

export function ask(child: ChildProcess, question: string, count = 0): Promise<Answer> {
  const answer = answerOf(child)
  child.send({ ask: question, count } satisfies Question)
  return answer
}

/** The next answer of a process. */
export function answerOf(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a process of the benchmark has ended'))
    child.once('exit', ended)
    child.once('message', (answer: Answer) => {
      child.off('exit', ended)
      resolve(answer)
    })
  })
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
