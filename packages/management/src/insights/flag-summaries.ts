import { nextStepAt, rangesAt } from '@ff/core/authoring'
import type { Environment, EnvironmentSummary, FlagSummary } from '@ff/protocol/management'
import { runInTimeSlices } from '@ff/server/plane'
import type { Records, StoredEnvironmentSummary, StoredFlagSummary } from '@ff/storage'
import type { Reader } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { viewProject } from '../organizations/projects.ts'
import { given } from '../requests/filters.ts'
import type { Input } from '../requests/input.ts'
import { listPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { deriveSummary, isComplete, loadScope } from '../summaries/derive-summary.ts'
import { differs, splitOf } from '../summaries/summarize.ts'

const DEFAULT_LIMIT = 200
const DEFAULT_SORT = { field: 'key', direction: 'asc' } as const

/** The time without an evaluation after which a flag is unused. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000

/** The states that concern the whole flag, not one environment. */
const STATES_OF_FLAG: ReadonlySet<string> = new Set(['differs', 'unused'])

/** The use case of flag summaries. */
export const flagSummaryUseCases = defineUseCases({
  /** Returns one page of the summaries of a project's flags. No flag set is compiled. */
  async listFlagSummaries({ storage, project, query, now }) {
    const { environments } = await viewProject(storage, project)
    const ids = environments.map(({ id }) => id)
    const environmentId = idIn(environments, query.environmentId)
    const { type, search, page, after, limit = DEFAULT_LIMIT, sort = DEFAULT_SORT } = query
    const archived = query.archived === false ? { archivedAt: null } : {}
    const found = await listPage(storage, 'flag', {
      where: { projectId: project.id, ...given({ type }), ...archived },
      contains: {
        tags: query.tag === undefined ? [] : [query.tag],
        marks: marksIn({ ...query, environmentId }),
      },
      ...(query.state === 'unused' && { range: unusedAt(now) }),
      ...{ sortBy: sort.field, direction: sort.direction, hasCursors: true },
      query: { search, page, limit, after },
    })
    const flags: SummarizedFlag[] = []
    for (const flag of found.data) flags.push(await withSummary(storage, flag))
    const data = await runInTimeSlices(viewSummaries(flags, ids, now))
    return { ...found, data }
  },
})

/** Returns the id of the environment with this id or key. Throws `INVALID_REQUEST` if there is none. */
function idIn(environments: readonly Environment[], text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const found = environments.find(({ id, key }) => id === text || key === text)
  if (found !== undefined) return found.id
  throw invalid('env_id', 'must be the id or the key of an environment of this project')
}

type Query = Input<'listFlagSummaries', 'query'>['query']

/** Returns the marks that a flag must have. */
function marksIn({ archived, state, environmentId }: Query): readonly string[] {
  const marks = archived === true ? ['archived'] : []
  if (state === undefined || state === 'unused') return marks
  const isHere = environmentId !== undefined && !STATES_OF_FLAG.has(state)
  return [...marks, isHere ? `${state}:${environmentId}` : state]
}

function unusedAt(now: number) {
  return { field: 'unusedSince', to: new Date(now - UNUSED_MS).toISOString() } as const
}

type SummarizedFlag = Records['flag'] & { readonly summary: StoredFlagSummary }

/** Returns the flag with its summary, which is derived if it is not stored or not complete. */
async function withSummary(reader: Reader, flag: Records['flag']): Promise<SummarizedFlag> {
  const { summary, projectId, id } = flag
  if (isComplete(summary)) return { ...flag, summary }
  const scope = { projectId, flagId: id }
  const records = await loadScope(reader, scope)
  return { ...flag, summary: await deriveSummary(reader, { flag, scope, records }) }
}

/** Returns the flags in the form of the reply. The caller can pause the work at each `yield`. */
function* viewSummaries(
  flags: readonly SummarizedFlag[],
  environmentIds: readonly string[],
  now: number,
): Generator<undefined, FlagSummary[]> {
  const views: FlagSummary[] = []
  for (const flag of flags) {
    const { id, key, name, type, tags, archivedAt, createdAt, updatedAt, lastEvaluatedAt } = flag
    const { summary } = flag
    const parts = new Map(summary.environments.map((part) => [part.environmentId, part]))
    views.push({
      ...{ id, key, name, type, tags, archivedAt, createdAt, updatedAt, lastEvaluatedAt },
      variations: [...summary.variations],
      differs: differs(summary),
      environments: environmentIds.flatMap((environmentId) => {
        const part = parts.get(environmentId)
        return part === undefined ? [] : [viewPart(part, now)]
      }),
    })
    yield
  }
  return views
}

function viewPart(part: StoredEnvironmentSummary, now: number): EnvironmentSummary {
  const { contentHash: _, gradualRollout, split, ruleVariationIds, ...rest } = part
  const stored = { ...rest, ruleVariationIds: [...ruleVariationIds] }
  if (gradualRollout === null) return { ...stored, split: split && [...split], nextStepAt: null }
  const next = nextStepAt(gradualRollout, now)
  return {
    ...stored,
    split: splitOf(rangesAt(gradualRollout, now)),
    nextStepAt: next === undefined ? null : new Date(next).toISOString(),
  }
}
