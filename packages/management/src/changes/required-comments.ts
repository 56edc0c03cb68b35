import { FlagError } from '@ff/core'
import type { Environment } from '@ff/protocol/management'
import type { Kind, Records, StorageSession } from '@ff/storage'
import { COMMENT_HEADER } from '../requests/comments.ts'
import { invalid } from '../requests/validation.ts'

/** A part of the configuration: of one environment, or of all environments of a project. */
interface Scope {
  readonly projectId: string
  readonly environmentId?: string
}

const ofProject = ({ projectId }: Scope): Scope => ({ projectId })
const ofEnvironment = ({ projectId, environmentId }: Required<Scope>): Scope => {
  return { projectId, environmentId }
}

/** Functions that return the scope of a record, for the kinds that are configuration. */
const SCOPES: { readonly [K in Kind]?: (record: Records[K]) => Scope } = {
  flag: ofProject,
  variation: ofProject,
  segment: ofProject,
  flagState: ofEnvironment,
  targetingRule: ofEnvironment,
  rollout: ofEnvironment,
  scheduledChange: ofEnvironment,
}

/** A write of one record. */
interface RecordWrite<K extends Kind> {
  readonly kind: K
  /** The record before the write; the new record if it was inserted. */
  readonly record: Records[K]
  /** The changed fields; `undefined` if the record was inserted. */
  readonly changes: object | undefined
}

/**
 * Collects the scopes of the configuration that a change writes. Switching a flag off, which is an
 * update of only `isActive`, is not included.
 */
export class WrittenConfiguration {
  readonly #projectIds = new Set<string>()
  /** Ids of projects by ids of their environments. */
  readonly #environments = new Map<string, string>()
  readonly #created = new Set<string>()
  readonly #deleted: Environment[] = []

  /** Adds the scope of a write. */
  add<K extends Kind>({ kind, record, changes }: RecordWrite<K>): void {
    if (kind === 'environment') this.#addEnvironment(record as Environment, changes)
    if (kind === 'flagState' && isSwitchOff(changes)) return
    const scope = SCOPES[kind]?.(record)
    if (scope?.environmentId !== undefined)
      this.#environments.set(scope.environmentId, scope.projectId)
    else if (scope !== undefined) this.#projectIds.add(scope.projectId)
  }

  /**
   * Returns an environment that requires a comment and whose configuration was written; `undefined`
   * if there is none. The setting before the change counts, so that an environment that the change
   * creates requires none. `known` is an environment as it was before the change; it saves a query
   * if the change wrote to no other environment.
   */
  async findCommented(
    reader: Pick<StorageSession, 'list'>,
    known: Environment | null | undefined,
  ): Promise<Environment | undefined> {
    const isCommented = ({ id, commentRequired }: Environment) =>
      commentRequired && !this.#created.has(id)
    const deleted = this.#deleted.find(isCommented)
    if (deleted !== undefined) return deleted
    if (known?.commentRequired && this.#environments.has(known.id)) return known
    const others = [...this.#environments].filter(([id]) => id !== known?.id)
    const projectIds = new Set([...this.#projectIds, ...others.map(([, id]) => id)])
    for (const projectId of projectIds) {
      const where = { projectId, commentRequired: true }
      const sort = { field: 'orderIndex', direction: 'asc' } as const
      const { data } = await reader.list('environment', { where, sort })
      const isWritten = ({ id }: Environment) =>
        this.#projectIds.has(projectId) || this.#environments.has(id)
      const found = data.find((each) => isCommented(each) && isWritten(each))
      if (found !== undefined) return found
    }
    return undefined
  }

  #addEnvironment(environment: Environment, changes: object | undefined): void {
    if (changes === undefined) this.#created.add(environment.id)
    else if ('deletedAt' in changes) this.#deleted.push(environment)
  }
}

function isSwitchOff(changes: object | undefined): boolean {
  if (changes === undefined || Object.keys(changes).length !== 1) return false
  return 'isActive' in changes && changes.isActive === false
}

interface CommentedChange {
  readonly comment?: string | undefined
  readonly mayOmitComment?: boolean
  /** The environment that the path names, as it was before the change. */
  readonly environment?: Environment | null | undefined
}

interface WritingReader {
  readonly reader: Pick<StorageSession, 'list'>
  readonly configuration: WrittenConfiguration
}

/**
 * Throws `INVALID_REQUEST` for an empty comment, and, with the code `COMMENT_REQUIRED`, if there is
 * no comment and an environment whose configuration was written requires one.
 */
export async function assertCommented(
  { reader, configuration }: WritingReader,
  { comment, mayOmitComment = false, environment }: CommentedChange,
): Promise<void> {
  if (comment !== undefined && comment !== '') return
  if (!mayOmitComment) {
    const found = await configuration.findCommented(reader, environment)
    if (found !== undefined) throw commentRequired(found, comment)
  }
  if (comment === '') throw invalid(COMMENT_HEADER, 'must contain a visible character')
}

function commentRequired({ key }: Environment, comment: string | undefined): FlagError {
  const advice =
    comment === undefined
      ? `send the header ${COMMENT_HEADER}`
      : `${COMMENT_HEADER} must contain a visible character`
  const message = `The environment "${key}" requires a comment: ${advice}.`
  const issues = [{ path: COMMENT_HEADER, message: `is required by the environment "${key}"` }]
  const details = { code: 'COMMENT_REQUIRED', environment: key, issues }
  return new FlagError('INVALID_REQUEST', message, { details })
}
