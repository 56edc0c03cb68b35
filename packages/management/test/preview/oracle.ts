import { compileFlagSet, type EvaluationContext, evaluateFlag, type FlagSet } from '@ff/core'
import { extensions, TimeSliceQueue } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { expect } from 'vitest'
import { Impact, type ImpactContext } from '../../src/preview/impact.ts'
import { ObservedSample } from '../../src/preview/observed-sample.ts'
import { PublishedFlagSets } from '../../src/preview/published-flag-sets.ts'
import type { Json } from '../world/world.ts'
import type { PreviewScene } from './preview-scene.ts'

/** The flag sets before and after the publication of a draft, and the time of the preview. */
export interface Comparison {
  readonly before: FlagSet
  readonly after: FlagSet
  readonly at: number
  readonly preview: Json
}

/** The numbers of results that oracles have compared. */
export interface Tally {
  determined: number
  undetermined: number
  moved: number
}

/**
 * Compares previews with the results of evaluating the original contexts one by one, with two
 * compiled flag sets.
 */
export class Oracle {
  readonly tally: Tally = { determined: 0, undetermined: 0, moved: 0 }
  readonly #scene: PreviewScene
  readonly #originals: ReadonlyMap<string, EvaluationContext>
  readonly #flagSets: PublishedFlagSets

  constructor(scene: PreviewScene, originals: readonly EvaluationContext[]) {
    this.#scene = scene
    this.#originals = new Map(originals.map((context) => [keyOf(context), context]))
    this.#flagSets = new PublishedFlagSets(scene.storage, new TimeSliceQueue())
  }

  /** Returns the current flag set, compiled by the engine alone. */
  async flagSet(): Promise<FlagSet> {
    await this.#flagSets.load(this.#scene.mine.live)
    const definition = await this.#scene.storage.loadFlagSet(this.#scene.mine.live)
    const nothing = { version: 0, flags: [], segments: [] }
    return compileFlagSet(definition ?? nothing, { extensions })
  }

  /** Expects that a preview equals the evaluation of every observed context. */
  async expectExact(comparison: Comparison): Promise<void> {
    const { before, after, preview, at } = comparison
    const listed: readonly string[] = preview.flags.map(({ key }: Json) => key)
    for (const key of new Set([...before.flags.keys(), ...after.flags.keys()])) {
      if (listed.includes(key)) continue
      for (const original of this.#originals.values()) {
        expect(evaluateFlag(after, key, original, at)).toEqual(
          evaluateFlag(before, key, original, at),
        )
      }
    }
    const contexts = await this.#contexts(comparison, listed)
    expect(preview.contexts.evaluated).toBe(contexts.length)
    expect(preview.complete).toBe(true)
    for (const flag of preview.flags) this.#expectFlag(flag, contexts, comparison)
  }

  async #contexts(
    { before, after }: Comparison,
    flagKeys: readonly string[],
  ): Promise<readonly ImpactContext[]> {
    const { storage, mine, clock } = this.#scene
    const environment = await storage.find('environment', mine.live)
    const sample = new ObservedSample({
      ...{ storage, flagSets: this.#flagSets, flagKeys, maxContexts: 50_000 },
      environment: environment as Records['environment'],
      ...{ published: before, draft: after },
      seenFrom: new Date(clock.now() - 24 * 3_600_000).toISOString(),
    })
    const contexts: ImpactContext[] = []
    for await (const page of sample.pages()) {
      contexts.push(...page.map((each) => sample.toContext(each)))
    }
    return contexts
  }

  #expectFlag(
    { examples: _, moves, ...flag }: Json,
    contexts: readonly ImpactContext[],
    { before, after, at }: Comparison,
  ): void {
    const expected = { changed: 0, reason_only: 0, undetermined: 0 }
    const splits = { before: new Map<string, number>(), after: new Map<string, number>() }
    const groups = new Map<string, number[]>()
    for (const context of contexts) {
      const original = this.#originals.get(context.key) as EvaluationContext
      const impact = new Impact({
        ...{ published: before, draft: after, flagKeys: [flag.key] },
        ...{ now: at, examples: 0 },
      })
      impact.add(context)
      if (impact.flags[0]?.undetermined === 1) {
        expected.undetermined += 1
        this.tally.undetermined += 1
        for (const name of impact.unknownAttributes) expect(context.isKnown?.(name)).toBe(false)
        continue
      }
      this.tally.determined += 1
      const was = evaluateFlag(before, flag.key, original, at)
      const becomes = evaluateFlag(after, flag.key, original, at)
      add(splits.before, was.variationKey)
      add(splits.after, becomes.variationKey)
      const isSame = JSON.stringify(was.value) === JSON.stringify(becomes.value)
      if (was.variationKey === becomes.variationKey && isSame) {
        const isOther = was.reason !== becomes.reason || was.ruleId !== becomes.ruleId
        if (isOther) expected.reason_only += 1
        continue
      }
      expected.changed += 1
      const move = [was.variationKey, becomes.variationKey, was.reason, becomes.reason]
      const name = JSON.stringify([...move, stableRule(becomes.ruleId ?? null)])
      const [count = 0, seen = 0] = groups.get(name) ?? []
      groups.set(name, [count + 1, seen + context.seenCount])
    }
    this.tally.moved += expected.changed
    const { changed, reason_only, undetermined } = flag
    expect({ changed, reason_only, undetermined }).toEqual(expected)
    expect(splitOf(flag.before)).toEqual([...splits.before].sort())
    expect(splitOf(flag.after)).toEqual([...splits.after].sort())
    const found = moves.map((move: Json) => {
      const { from, to, from_reason, to_reason, to_rule_id, contexts: count, evaluations } = move
      const name = JSON.stringify([from, to, from_reason, to_reason, stableRule(to_rule_id)])
      return [name, [count, evaluations]]
    })
    expect(found.sort()).toEqual([...groups].sort())
  }
}

function add(counts: Map<string, number>, key: string | null): void {
  counts.set(String(key), (counts.get(String(key)) ?? 0) + 1)
}

/** Returns the id of a rule; the same text for all rules that a promotion has created. */
function stableRule(id: string | null): string | null {
  return id === null || id.startsWith('00000000-') ? id : 'promoted'
}

function splitOf(split: readonly Json[]): readonly unknown[] {
  return split.map(({ variation_key, contexts }) => [String(variation_key), contexts]).sort()
}

function keyOf(context: EvaluationContext): string {
  const { user } = context as { readonly user?: { readonly key?: string } }
  return String(context.kind === 'multi' ? user?.key : context.key)
}
