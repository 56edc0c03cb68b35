// Writes to a data file in four concurrent loops and prints the id of each saved transaction.
// Parameters: the path of the file, and the number of transactions per loop (default: unlimited).
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { sqlite } from '../src/sqlite/sqlite.ts'
import { ENVIRONMENT_ID, writePair } from './write-pair.ts'

const LOOPS = 4

const [path = '', rounds = 'Infinity'] = process.argv.slice(2)
const { storage } = sqlite({ path })
await storage.migrate()
print('ready')
await Promise.all(Array.from({ length: LOOPS }, writeMany))
await storage.loadFlagSet(ENVIRONMENT_ID)

async function writeMany(): Promise<void> {
  for (let round = 0; round < Number(rounds); round += 1) {
    const id = randomUUID()
    await writePair(storage, id)
    print(id)
  }
}

function print(line: string): void {
  writeSync(1, `${line}\n`)
}
