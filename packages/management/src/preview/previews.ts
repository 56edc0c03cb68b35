import { FlagError, type FlagSet, isFlagError, parseContext } from '@ff/core'
import type { Environment, Preview, PreviewQuestion } from '@ff/protocol/management'
import { runInTimeSlices, sha256 } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import type { Actor } from '../access/actors.ts'
import { notFound } from '../access/permissions.ts'
import { keepNewest } from '../changes/keep-newest.ts'
import { assertPublishable, PublishCheck } from '../changes/publish-check.ts'
import { explainedEvaluation } from '../insights/explanations.ts'
import { invalid, withinField } from '../requests/validation.ts'
import { applyToDraft, type DraftServices } from './draft-changes.ts'
import { evaluateImpact, type Sides } from './evaluate-impact.ts'
import { PreviewQueue } from './preview-queue.ts'
import { NOTHING_PUBLISHED, type PublishedFlagSets } from './published-flag-sets.ts'

/** The number of attempts to read the records of a draft while the environment changes. */
const ATTEMPTS = 5
/** The time for which an answer is cached, and the maximum number of cached answers. */
const CACHED_MS = 30_000
const MAX_CACHED = 100

/** The arguments of a preview. */
export interface PreviewInput {
  readonly question: PreviewQuestion
  readonly environment: Records['environment']
  /** The organization of the environment. */
  readonly orgId: string
  readonly actor: Actor
}

type Explain = NonNullable<PreviewQuestion['explain']>

interface CachedAnswer {
  /** Milliseconds of the monotonic clock. */
  readonly until: number
  readonly preview: Preview
}

/** Compares drafts with the published flag sets, over the observed contexts. */
export class Previews {
  readonly #services: DraftServices
  readonly #queue = new PreviewQueue()
  readonly #flagSets: PublishedFlagSets
  readonly #publishCheck = new PublishCheck()
  /** Recent answers by the hash of their input. */
  readonly #cached = new Map<string, CachedAnswer>()

  constructor(services: DraftServices, flagSets: PublishedFlagSets) {
    this.#services = services
    this.#flagSets = flagSets
  }

  /**
   * Returns what a draft and the published version serve to observed contexts. Throws the errors of
   * publishing the draft, `CONFLICT` if the environment stores no contexts, and `RATE_LIMITED` if
   * the organization has too many previews at the same time.
   */
  async preview(input: PreviewInput): Promise<Preview> {
    const { explain } = input.question
    if (input.environment.contextPrivacy === 'none') throw withoutContexts(input.environment)
    if (explain !== undefined)
      await withinField('explain.context', () => parseContext(explain.context))
    return this.#queue.run(input.orgId, () => this.#preview(input))
  }

  async #preview(input: PreviewInput): Promise<Preview> {
    const { clock } = this.#services
    const { explain, ...question } = input.question
    const startedAt = clock.monotonicNow()
    const at = question.at ?? new Date(clock.now()).toISOString()
    // A promotion also depends on the other environments.
    const versions = await this.#versionsOf(input.environment.projectId)
    const sides = await this.#loadSides(input)
    const name = await sha256(JSON.stringify([input.environment, versions, question]))
    const cached = this.#cached.get(name)
    const isFresh = cached !== undefined && cached.until > startedAt
    const tools = { ...this.#services, flagSets: this.#flagSets, slices: this.#flagSets.slices }
    const preview = isFresh
      ? cached.preview
      : await evaluateImpact(tools, sides, { ...input, at, startedAt })
    const until = clock.monotonicNow() + CACHED_MS
    if (!isFresh) keepNewest(this.#cached, [name, { until, preview }], MAX_CACHED)
    if (explain === undefined) return preview
    return { ...preview, explanations: await explanationsOf(sides, explain, preview.at) }
  }

  /** Returns the newest version of each environment of a project. */
  async #versionsOf(projectId: string): Promise<readonly number[]> {
    const { storage } = this.#services
    const { data } = await storage.list('environment', { where: { projectId } })
    const newest = data.map(({ id }) => storage.listVersions(id, { page: 1, limit: 1 }))
    return (await Promise.all(newest)).map(({ data: [latest] }) => latest?.version ?? 0)
  }

  /** Applies the changes of a draft, checks it as when it is published, and compiles it. */
  async #loadSides(input: PreviewInput): Promise<Sides> {
    const { id } = input.environment
    const { changes } = input.question
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const published = await this.#flagSets.load(id)
      const base = { ...input, changes, published: published.definition }
      const [applied] = await Promise.allSettled([applyToDraft(this.#services, base)])
      // The records, and an error about them, belong to the flag set if its version is still the
      // newest one.
      if ((await this.#flagSets.load(id)) !== published) continue
      if (applied.status === 'rejected') throw applied.reason
      const { published: drafted, storage } = applied.value
      await this.#assertPublishable(drafted)
      const definition = (await storage.loadFlagSet(id)) ?? NOTHING_PUBLISHED
      return { published, draft: await this.#flagSets.compile(definition, published) }
    }
    throw new FlagError('CONFLICT', 'The environment changes too often. Try again.')
  }

  async #assertPublishable(
    drafted: Awaited<ReturnType<typeof applyToDraft>>['published'],
  ): Promise<void> {
    for (const [environmentId, changes] of drafted) {
      const definitions = await this.#publishCheck.load(this.#services.storage, environmentId)
      try {
        await runInTimeSlices(assertPublishable(definitions, changes), this.#flagSets.slices)
      } catch (error) {
        if (!isFlagError(error) || error.code !== 'INVALID_DEFINITION') throw error
        throw invalid('changes', error.message)
      }
    }
  }
}

/** Returns the explanations of a flag; `null` for a side that does not have the flag. */
async function explanationsOf(
  { published, draft }: Sides,
  { context, flagKey }: Explain,
  at: string,
): Promise<NonNullable<Preview['explanations']>> {
  if (!published.flags.has(flagKey) && !draft.flags.has(flagKey)) throw notFound('flag')
  const question = { context: parseContext(context), now: Date.parse(at) }
  const explain = async (flagSet: FlagSet) => {
    if (!flagSet.flags.has(flagKey)) return null
    return explainedEvaluation({ ...question, flagSet }, [flagKey])
  }
  return { published: await explain(published), draft: await explain(draft) }
}

function withoutContexts({ key }: Environment): FlagError {
  const message = `The environment "${key}" stores no contexts (context_privacy is "none"), so that changes cannot be previewed.`
  return new FlagError('CONFLICT', message, { details: { code: 'PREVIEW_WITHOUT_CONTEXTS' } })
}
