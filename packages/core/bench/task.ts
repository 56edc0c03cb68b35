import { checkFloors, checkPeers } from './check.ts'
import {
  afterChanges,
  garbageHundred,
  garbageOne,
  heap,
  warmUpHundred,
  warmUpOne,
} from './fresh.ts'
import { takeTurns } from './turns.ts'

const [task = '', name = ''] = process.argv.slice(2)

/** The tasks by name. A number that a task returns is printed as its result. */
const TASKS: Readonly<Record<string, () => unknown>> = {
  turns: () => takeTurns(name),
  'check-floors': checkFloors,
  'check-peers': checkPeers,
  'warm-up-one': warmUpOne,
  'warm-up-hundred': warmUpHundred,
  'after-changes': afterChanges,
  'garbage-one': garbageOne,
  'garbage-hundred': garbageHundred,
  heap,
}

const found = await TASKS[task]?.()
if (typeof found === 'number') process.stdout.write(`${found}\n`)
