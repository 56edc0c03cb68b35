import { type RawBuilder, sql } from 'kysely'
import type { FlagHistoryQuery, PublishedVersion, VersionPage } from '../ports/publications.ts'
import type { LogEntry, LogTopic } from '../publication-log/publication-log.ts'
import type { SqlDialect } from './dialect.ts'
import { EMPTY_DIGEST } from './present-digest.ts'
import type { SqlStatement, SqlValue } from './sql-driver.ts'
import { toStatement } from './statement-templates.ts'

/**
 * Selects the entries that form the current state of topics. `h` is the newest entry of a topic.
 */
const ENTRIES = sql`
  select p.kind, p.entity_id, p.version, p.base_version, p.body
  from ff_publication_head h
  join ff_publication p on p.environment_id = h.environment_id and p.kind = h.kind
    and p.entity_id = h.entity_id and p.version between h.base_version and h.version`

const IN_ORDER = sql`order by p.kind, p.entity_id, p.version`

/** A version that is greater than all versions of an environment. */
const AFTER_ALL = 2_147_483_647

/** The statements of the publication log. `toLogEntry` converts the rows of log entries. */
export class PublicationStatements {
  readonly #dialect: SqlDialect
  /** The SQL text of each template, cached because building it takes longer than running it. */
  readonly #texts = new Map<TemplateStringsArray, string>()

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** Locks the environment: other publishers wait until this transaction has ended. */
  claim(environmentId: string): SqlStatement {
    return this.#statement`
      insert into ff_environment_version (environment_id, version, digest)
      values (${environmentId}, 0, ${EMPTY_DIGEST})
      on conflict (environment_id) do update set version = ff_environment_version.version`
  }

  /**
   * Selects the `version`, the `client_version` (null if it equals the version) and the `digest` of
   * the environment. Returns no row, or version 0, if nothing has been published.
   */
  version(environmentId: string): SqlStatement {
    return this.#statement`
      select e.version, v.client_version, e.digest
      from ff_environment_version e
      left join ff_version v on v.environment_id = e.environment_id and v.version = e.version
      where e.environment_id = ${environmentId}`
  }

  /** Selects the `id`, the `revision` and the newest `version` of living environments. */
  versionsOf(environmentIds: readonly string[]): SqlStatement {
    const query = sql`
      select e.id, e.revision, coalesce(v.version, 0) as version
      from ff_environment e left join ff_environment_version v on v.environment_id = e.id
      where e.id in (${sql.join(environmentIds)}) and e.deleted_at is null`
    return toStatement(query.compile(this.#dialect.builder))
  }

  /**
   * Selects the `version` and the `client_version` (null if it equals the version) of a past
   * version.
   */
  pastVersion(environmentId: string, version: number): SqlStatement {
    return this.#statement`
      select version, client_version from ff_version
      where environment_id = ${environmentId} and version = ${version}`
  }

  setVersion(environmentId: string, version: number, digest: string): SqlStatement {
    return this.#statement`
      update ff_environment_version set version = ${version}, digest = ${digest}
      where environment_id = ${environmentId}`
  }

  appendVersion(
    environmentId: string,
    published: PublishedVersion,
    clientVersion: number,
  ): SqlStatement {
    const { version, publishedAt, eventId } = published
    const flags = JSON.stringify(published.flags)
    const segments = JSON.stringify(published.segments)
    const otherVersion = clientVersion === version ? null : clientVersion
    return this.#statement`
      insert into ff_version (environment_id, version, client_version, published_at, event_id,
        flags, segments)
      values (${environmentId}, ${version}, ${otherVersion}, ${publishedAt},
        ${eventId}, ${flags}, ${segments})`
  }

  /** Selects one page of versions, newest first. `toPublishedVersion` converts the rows. */
  versions(environmentId: string, { page, limit, before = AFTER_ALL }: VersionPage): SqlStatement {
    return this.#statement`
      select version, published_at, event_id, flags, segments from ff_version
      where environment_id = ${environmentId} and version < ${before}
      order by version desc limit ${limit} offset ${(page - 1) * limit}`
  }

  append(environmentId: string, entry: LogEntry): readonly [SqlStatement, SqlStatement] {
    const { kind, id, version, baseVersion, body } = entry
    return [
      this.#statement`
        insert into ff_publication (environment_id, kind, entity_id, version, base_version, body)
        values (${environmentId}, ${kind}, ${id}, ${version}, ${baseVersion}, ${body})`,
      this.#statement`
        insert into ff_publication_head (environment_id, kind, entity_id, version, base_version)
        values (${environmentId}, ${kind}, ${id}, ${version}, ${baseVersion})
        on conflict (environment_id, kind, entity_id)
        do update set version = excluded.version, base_version = excluded.base_version`,
    ]
  }

  /** Selects the current state of one topic. */
  topic(environmentId: string, { kind, id }: LogTopic): SqlStatement {
    return this.#statement`${ENTRIES}
      where h.environment_id = ${environmentId} and h.kind = ${kind} and h.entity_id = ${id}
      ${IN_ORDER}`
  }

  /** Selects the current state of every topic. */
  present(environmentId: string): SqlStatement {
    return this.#statement`${ENTRIES} where h.environment_id = ${environmentId} ${IN_ORDER}`
  }

  /** Selects the state of every topic at a version. */
  past(environmentId: string, version: number): SqlStatement {
    return this.#statement`
      select p.kind, p.entity_id, p.version, p.base_version, p.body
      from (
        select kind, entity_id, max(version) as version from ff_publication
        where environment_id = ${environmentId} and version <= ${version}
        group by kind, entity_id
      ) newest
      join ff_publication h on h.environment_id = ${environmentId} and h.kind = newest.kind
        and h.entity_id = newest.entity_id and h.version = newest.version
      join ff_publication p on p.environment_id = h.environment_id and p.kind = h.kind
        and p.entity_id = h.entity_id and p.version between h.base_version and h.version
      ${IN_ORDER}`
  }

  /** Selects the newest entry of a flag up to version `since` and all later ones, oldest first. */
  flagHistory({ environmentId, flagId, since }: FlagHistoryQuery): SqlStatement {
    return this.#statement`
      select kind, entity_id, version, base_version, body from ff_publication
      where environment_id = ${environmentId} and kind = 'flag' and entity_id = ${flagId}
        and version >= coalesce((
          select max(version) from ff_publication
          where environment_id = ${environmentId} and kind = 'flag' and entity_id = ${flagId}
            and version <= ${since}
        ), 0)
      order by version`
  }

  /**
   * Selects the entries after version `since` that belong to the current state of their topic. A
   * cross join fixes the join order, because a query planner without statistics would start with
   * the whole log. The same applies to `segmentsBefore`.
   */
  changedAfter(environmentId: string, since: number): SqlStatement {
    return this.#statement`
      select p.kind, p.entity_id, p.version, p.base_version, p.body
      from ff_publication_head h
      cross join ff_publication p
      where h.environment_id = ${environmentId} and h.version > ${since}
        and p.environment_id = h.environment_id and p.kind = h.kind
        and p.entity_id = h.entity_id and p.version between
          case when h.base_version > ${since} then h.base_version else ${since + 1} end
          and h.version
      ${IN_ORDER}`
  }

  /**
   * Selects the state at version `since` of the segments that changed later: their definitions, and
   * each list that has a later checkpoint or whose segment was not published at this version.
   */
  segmentsBefore(environmentId: string, since: number): SqlStatement {
    return this.#statement`
      select p.kind, p.entity_id, p.version, p.base_version, p.body
      from (
        select distinct entity_id from ff_publication_head
        where environment_id = ${environmentId} and version > ${since} and kind <> 'flag'
      ) changed
      cross join ff_publication_head h
      cross join ff_publication newest
      cross join ff_publication p
      where h.environment_id = ${environmentId}
        and h.kind in ('segment', 'included', 'excluded') and h.entity_id = changed.entity_id
        and (h.kind = 'segment' or h.base_version > ${since} or (
          select body from ff_publication
          where environment_id = ${environmentId} and kind = 'segment'
            and entity_id = changed.entity_id and version <= ${since}
          order by version desc limit 1
        ) is null)
        and newest.environment_id = h.environment_id and newest.kind = h.kind
        and newest.entity_id = h.entity_id and newest.version = (
          select max(version) from ff_publication
          where environment_id = h.environment_id and kind = h.kind
            and entity_id = h.entity_id and version <= ${since}
        )
        and p.environment_id = h.environment_id and p.kind = h.kind
        and p.entity_id = h.entity_id and p.version between newest.base_version and newest.version
      ${IN_ORDER}`
  }

  /**
   * Returns the statement of a template. Its SQL text is built only for the first call. Each value
   * in the template becomes a parameter.
   */
  #statement(
    template: TemplateStringsArray,
    ...parts: readonly (SqlValue | RawBuilder<unknown>)[]
  ): SqlStatement {
    const { builder } = this.#dialect
    const text = this.#texts.get(template) ?? sql(template, ...parts).compile(builder).sql
    this.#texts.set(template, text)
    const parameters = parts.filter((part) => part === null || typeof part !== 'object')
    return { sql: text, parameters }
  }
}
