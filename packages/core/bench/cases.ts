import { evaluateAll, jsonOf, prepareIncrementally, valuesOf } from '../src/all-flags.ts'
import {
  compileFlagSet,
  evaluateFlag,
  evaluateValue,
  type FlagSet,
  type FlagSetDefinition,
} from '../src/index.ts'
import { re2 } from '../src/regex.ts'
import { COMMON_CONTEXTS, commonFlags } from './common-flags.ts'
import { floorOf } from './floor.ts'
import { contextAt, mixedFlags } from './mixed.ts'
import { mixedFloorOf } from './mixed-floor.ts'
import { installedPeers, type PeerContext } from './peer.ts'
import { manyFlags, NOW, oneFlag, oneSegment, USERS, userAt } from './workload.ts'

/** A case of the benchmark. */
export interface Case {
  /** The number of calls in a round. A round takes about 20 milliseconds. */
  readonly calls: number
  call(turn: number): unknown
}

const OWN: Readonly<Record<string, () => Case>> = {
  'W1 floor': () => floorCase(oneFlag(), 200_000),
  W1: () => oneValue(oneFlag()),
  'W1, longer salt': () => oneValue(withSalt(oneFlag(), 'aB3dE5gH7jKm')),
  'W1 detail': () => oneCase(oneFlag(), evaluateFlag),
  W4: () => oneValue(oneSegment(USERS, 10_000)),
  'W2 floor': () => floorCase(manyFlags(100), 2000),
  'W2 codes': () => ({ calls: 2000, call: codesOf(manyFlags(100)) }),
  'W2 values': () => allValues(manyFlags(100), 2000),
  'W2 JSON': () => allJson(manyFlags(100), 2000),
  'W3 codes': () => ({ calls: 300, call: codesOf(manyFlags(1000)) }),
  'W3 values': () => allValues(manyFlags(1000), 300),
  'W3 JSON': () => allJson(manyFlags(1000), 300),
  'mixed one floor': () => {
    const { one } = mixedFloorOf(mixedFlags(100))
    return { calls: 20_000, call: (turn) => one(turn % 100, contextAt(turn)) }
  },
  'mixed one': () => {
    const definition = mixedFlags(100)
    const flagSet = compileMixed(definition)
    const keys = definition.flags.map(({ key }) => key)
    const call = (turn: number) => {
      return evaluateValue(flagSet, keys[turn % 100] ?? '', contextAt(turn), NOW)
    }
    return { calls: 20_000, call }
  },
  ...mixedCases(10, 20_000),
  ...mixedCases(100, 1000),
  ...mixedCases(1000, 100),
  'mixed 10000 values': () => mixedValues(compileMixed(mixedFlags(10_000)), 10),
  'mixed 1000 values, first of ten sets': () => mixedValues(tenSets(0), 100),
  'mixed 1000 values, last of ten sets': () => mixedValues(tenSets(9), 100),
  'common 100 values': () => {
    const flagSet = compileFlagSet(commonFlags(100))
    const contextAt = (turn: number) => COMMON_CONTEXTS[turn % COMMON_CONTEXTS.length] ?? {}
    return { calls: 2000, call: (turn) => valuesOf(evaluateAll(flagSet, contextAt(turn), NOW)) }
  },
  'W3 compile': () => {
    const definition = manyFlags(1000)
    return { calls: 1, call: () => compileForAll(definition) }
  },
  'W3 compile after one change': () => {
    const definition = manyFlags(1000)
    const previous = compileForAll(definition)
    const again = changed(definition, 500)
    return { calls: 1, call: () => compileForAll(again, previous) }
  },
}

/**
 * The workloads that peers evaluate too. V8 optimizes the functions that flagd compiles only after
 * 3,000 to 5,000 calls, so that the warm-up of 30 rounds needs at least that many.
 */
const PEER_WORKLOADS: Readonly<Record<string, PeerWorkload>> = {
  W1: { definition: oneFlag, contexts: USERS, evaluate: 'value', calls: 10_000 },
  W2: { definition: () => manyFlags(100), contexts: USERS, evaluate: 'values', calls: 160 },
  W3: { definition: () => manyFlags(1000), contexts: USERS, evaluate: 'values', calls: 4 },
  'common 100': {
    definition: () => commonFlags(100),
    contexts: COMMON_CONTEXTS,
    evaluate: 'values',
    calls: 160,
  },
}

interface PeerWorkload {
  definition(): FlagSetDefinition
  readonly contexts: readonly PeerContext[]
  readonly evaluate: 'value' | 'values'
  readonly calls: number
}

/** Returns the case with a name. The name of a peer's case is a workload and the peer's name. */
export async function caseOf(name: string): Promise<Case> {
  const own = OWN[name]
  return own === undefined ? peerCase(name) : own()
}

/** Compiles a flag set with everything that the evaluation of all flags needs. */
export function compileForAll(definition: FlagSetDefinition, previous?: FlagSet): FlagSet {
  const flagSet = compileFlagSet(definition, { previous })
  for (const _ of prepareIncrementally(flagSet));
  valuesOf(evaluateAll(flagSet, userAt(0), NOW))
  return flagSet
}

/** Returns the next version, in which the first rule of one flag is removed. */
export function changed(definition: FlagSetDefinition, position: number): FlagSetDefinition {
  const flags = definition.flags.map((flag, index) => {
    return index === position ? { ...flag, rules: flag.rules.slice(1) } : flag
  })
  return { ...definition, version: definition.version + 1, flags }
}

function withSalt(definition: FlagSetDefinition, salt: string): FlagSetDefinition {
  const flags = definition.flags.map((flag) => {
    return { ...flag, rollouts: flag.rollouts.map((rollout) => ({ ...rollout, salt })) }
  })
  return { ...definition, flags }
}

function mixedCases(count: number, calls: number): Readonly<Record<string, () => Case>> {
  return {
    [`mixed ${count} floor`]: () => {
      const { values } = mixedFloorOf(mixedFlags(count))
      return { calls, call: (turn) => values(contextAt(turn)) }
    },
    [`mixed ${count} values`]: () => mixedValues(compileMixed(mixedFlags(count)), calls),
    [`mixed ${count} JSON`]: () => {
      const flagSet = compileMixed(mixedFlags(count))
      const codes = (turn: number) => evaluateAll(flagSet, contextAt(turn), NOW)
      return { calls, call: (turn) => jsonOf(codes(turn)).charCodeAt(0) }
    },
  }
}

function compileMixed(definition: FlagSetDefinition): FlagSet {
  return compileFlagSet(definition, { extensions: { regex: re2 } })
}

function mixedValues(flagSet: FlagSet, calls: number): Case {
  return { calls, call: (turn) => valuesOf(evaluateAll(flagSet, contextAt(turn), NOW)) }
}

/** Compiles ten sets, uses all of them, and returns one of them. */
function tenSets(number: number): FlagSet {
  const sets = Array.from({ length: 10 }, (_, seed) => compileMixed(mixedFlags(1000, 100 + seed)))
  for (let turn = 0; turn < 500; turn += 1) {
    for (const flagSet of sets) valuesOf(evaluateAll(flagSet, contextAt(turn), NOW))
  }
  const found = sets[number]
  if (found === undefined) throw new Error(`There is no set ${number}.`)
  return found
}

async function peerCase(name: string): Promise<Case> {
  const space = name.lastIndexOf(' ')
  const workload = PEER_WORKLOADS[name.slice(0, space)]
  const peer = (await installedPeers()).find((each) => each.name === name.slice(space + 1))
  if (workload === undefined || peer === undefined) throw new Error(`unknown case ${name}`)
  const { definition, evaluate, calls } = workload
  const prepared = await peer.prepare(definition())
  const contexts = workload.contexts.map((user) => prepared.contextOf(user))
  const call = prepared[evaluate]
  return { calls, call: (turn) => call(contexts[turn % contexts.length]) }
}

function floorCase(definition: FlagSetDefinition, calls: number): Case {
  const floor = floorOf(definition)
  return { calls, call: (turn) => floor(userAt(turn)) }
}

function oneValue(definition: FlagSetDefinition): Case {
  return oneCase(definition, evaluateValue)
}

function oneCase(
  definition: FlagSetDefinition,
  evaluate: typeof evaluateValue | typeof evaluateFlag,
): Case {
  const flagSet = compileFlagSet(definition)
  const key = definition.flags[0]?.key ?? ''
  return { calls: 100_000, call: (turn) => evaluate(flagSet, key, userAt(turn), NOW) }
}

function codesOf(definition: FlagSetDefinition) {
  const flagSet = compileFlagSet(definition)
  return (turn: number) => evaluateAll(flagSet, userAt(turn), NOW)
}

function allValues(definition: FlagSetDefinition, calls: number): Case {
  const codes = codesOf(definition)
  return { calls, call: (turn) => valuesOf(codes(turn)) }
}

function allJson(definition: FlagSetDefinition, calls: number): Case {
  const codes = codesOf(definition)
  // Reading a character forces V8 to concatenate the text.
  return { calls, call: (turn) => jsonOf(codes(turn)).charCodeAt(0) }
}
