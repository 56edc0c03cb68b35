import {
  compileFlagSet,
  evaluateAll,
  evaluateValue,
  type FlagSetDefinition,
  jsonOf,
  valuesOf,
} from '../src/index.ts'
import { type Floor, floorOf } from './floor.ts'
import { type Case, compare, type Times } from './measure.ts'
import { contextsOf, manyFlags, NOW, oneFlag, oneSegment, type UserContext } from './workload.ts'

export const USERS = contextsOf(1000)
export const ROUNDS = 200

/** One flag: W1, its floor, and W4. */
export function measureOne(): Promise<Times> {
  const floor = checkedFloor(oneFlag())
  return compare(ROUNDS, [
    { name: 'W1 floor', calls: 3000, call: (turn) => floor(userAt(turn)) },
    oneValue('W1', oneFlag(), 3000),
    oneValue('W4', oneSegment(USERS, 10_000), 3000),
  ])
}

/** All of 100 flags, and their floor. */
export function measureHundred(): Promise<Times> {
  const floor = checkedFloor(manyFlags(100))
  return compare(ROUNDS, [
    { name: 'W2 floor', calls: 100, call: (turn) => floor(userAt(turn)) },
    ...allForms('W2', manyFlags(100), 100),
  ])
}

/** All of 1,000 flags. */
export function measureThousand(): Promise<Times> {
  return compare(ROUNDS, allForms('W3', manyFlags(1000), 20))
}

/** Compiling 1,000 flags, and compiling them again after one of them changed. */
export function measureCompiling(): Promise<Times> {
  const definition = manyFlags(1000)
  const previous = compileFlagSet(definition)
  const again = changed(definition, 500)
  return compare(25, [
    { name: 'W3 compile', calls: 1, call: () => compileFlagSet(definition) },
    { name: 'W3 compile again', calls: 1, call: () => compileFlagSet(again, { previous }) },
  ])
}

/** The next version, in which one flag has lost its first rule. */
export function changed(definition: FlagSetDefinition, position: number): FlagSetDefinition {
  const flags = definition.flags.map((flag, index) => {
    return index === position ? { ...flag, rules: flag.rules.slice(1) } : flag
  })
  return { ...definition, version: definition.version + 1, flags }
}

/** The value of the first flag. */
export function oneValue(name: string, definition: FlagSetDefinition, calls: number): Case {
  const flagSet = compileFlagSet(definition)
  const key = definition.flags[0]?.key ?? ''
  return { name, calls, call: (turn) => evaluateValue(flagSet, key, userAt(turn), NOW) }
}

/** The values of all flags. */
export function allValues(name: string, definition: FlagSetDefinition, calls: number): Case {
  const flagSet = compileFlagSet(definition)
  return { name, calls, call: (turn) => valuesOf(evaluateAll(flagSet, userAt(turn), NOW)) }
}

function allForms(name: string, definition: FlagSetDefinition, calls: number): Case[] {
  const flagSet = compileFlagSet(definition)
  const codes = (turn: number) => evaluateAll(flagSet, userAt(turn), NOW)
  return [
    { name: `${name} codes`, calls, call: codes },
    allValues(`${name} values`, definition, calls),
    // Reading a character makes the engine put the pieces together.
    { name: `${name} JSON`, calls, call: (turn) => jsonOf(codes(turn)).charCodeAt(0) },
  ]
}

/** The floor of a workload, which must answer as the engine does. */
function checkedFloor(definition: FlagSetDefinition): Floor {
  const floor = floorOf(definition)
  const flagSet = compileFlagSet(definition)
  for (const user of USERS) {
    const expected = floor(user)
    for (const [key, value] of Object.entries(valuesOf(evaluateAll(flagSet, user, NOW)))) {
      if (value !== expected[key]) throw new Error(`the engine and the floor differ on ${key}`)
    }
  }
  return floor
}

function userAt(turn: number): UserContext {
  const user = USERS[turn % USERS.length]
  if (user === undefined) throw new Error('no users')
  return user
}
