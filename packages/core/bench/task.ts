import {
  afterChanges,
  garbageHundred,
  garbageOne,
  heap,
  warmUpHundred,
  warmUpOne,
} from './fresh.ts'
import { measureCompiling, measureHundred, measureOne, measureThousand } from './groups.ts'
import { checkPeers, hundredPeers, onePeers, thousandPeers } from './peer-groups.ts'

/** Everything runs in a process of its own, for what ran before makes the same code slower. */
const TASKS: Readonly<Record<string, () => unknown>> = {
  one: measureOne,
  hundred: measureHundred,
  thousand: measureThousand,
  compiling: measureCompiling,
  'check-peers': checkPeers,
  'one-peers': onePeers,
  'hundred-peers': hundredPeers,
  'thousand-peers': thousandPeers,
  'warm-up-one': warmUpOne,
  'warm-up-hundred': warmUpHundred,
  'after-changes': afterChanges,
  'garbage-one': garbageOne,
  'garbage-hundred': garbageHundred,
  heap,
}

const task = TASKS[process.argv[2] ?? '']
if (task === undefined) throw new Error(`there are only ${Object.keys(TASKS).join(', ')}`)
process.stdout.write(`${JSON.stringify(await task())}\n`)
