import { dependenciesOf } from './dependency-graph.ts'
import { EvaluationCache } from './evaluation-cache.ts'
import type { CompiledFlag } from './flag.ts'
import { type FlagSet, timestampsOfFlags } from './flag-set.ts'
import { flagName } from './references.ts'

/**
 * Returns the view of a flag set for SDK keys of kind `client`. The view serves only the flags that
 * are visible to clients, but conditions and prerequisites of these flags can refer to other flags.
 * The version of the view is the `clientVersion` of the definition or, if it is absent, the version
 * of the flag set. `previous` is the view of an earlier version of the same environment. Returns
 * `previous` if it has the version of the new view. Returns `flagSet` itself if all flags are
 * visible and the versions are equal.
 */
export function clientView(flagSet: FlagSet, previous?: FlagSet): FlagSet {
  const version = flagSet.definition.clientVersion ?? flagSet.version
  if (previous?.version === version) return previous
  const ordered = flagSet.ordered.filter(isClientVisible)
  if (ordered.length === flagSet.ordered.length && version === flagSet.version) return flagSet
  const flags = byKey(ordered)
  const reachable = dependenciesOf(
    flagSet.dependencies.nodes,
    ordered.map(({ key }) => flagName(key)),
  )
  const flagsByKey = byKey(flagSet.ordered.filter(({ key }) => reachable.has(flagName(key))))
  return Object.freeze({
    ...flagSet,
    version,
    flags,
    ordered,
    flagsByKey,
    flagsById: new Map(Array.from(flagsByKey.values(), (flag) => [flag.definition.id, flag])),
    timestamps: timestampsOfFlags(flagsByKey, previous),
    cache: new EvaluationCache(previous?.cache),
  })
}

/** Returns `true` if SDK keys of kind `client` receive the flag. */
function isClientVisible({ definition }: CompiledFlag): boolean {
  return definition.clientVisible !== false
}

function byKey(flags: readonly CompiledFlag[]): ReadonlyMap<string, CompiledFlag> {
  return new Map(flags.map((flag) => [flag.key, flag]))
}
