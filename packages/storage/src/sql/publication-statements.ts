import { type RawBuilder, sql } from 'kysely'
import type { PublishedVersion, VersionPage } from '../ports/storage.ts'
import type { LogEntry, LogTopic } from '../publication-log/publication-log.ts'
import type { SqlDialect } from './dialect.ts'
import { EMPTY_DIGEST } from './present-digest.ts'
import type { SqlStatement, SqlValue } from './sql-driver.ts'
import { Placeholders, StatementTemplates } from './statement-templates.ts'

/** Entries of the log, joined to the newest entry `h` of their topic. */
const ENTRIES = sql`
  select p.kind, p.entity_id, p.version, p.base_version, p.body
  from ff_publication_head h
  join ff_publication p on p.environment_id = h.environment_id and p.kind = h.kind
    and p.entity_id = h.entity_id and p.version between h.base_version and h.version`

const IN_ORDER = sql`order by p.kind, p.entity_id, p.version`

/** The statements of the publication log; those that read answer rows for `toLogEntry`. */
export class PublicationStatements {
  readonly #dialect: SqlDialect
  readonly #templates = new StatementTemplates()

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** Makes other publishers of the environment wait until this transaction has ended. */
  claim(environmentId: string): SqlStatement {
    return this.#statement(
      'claim',
      { environmentId },
      (is) => sql`
      insert into ff_environment_version (environment_id, version, digest)
      values (${is.environmentId}, 0, ${EMPTY_DIGEST})
      on conflict (environment_id) do update set version = ff_environment_version.version`,
    )
  }

  /**
   * A row with the environment's `version`, `client_version` (null: the same) and `digest`; none, or
   * version 0, before the first.
   */
  version(environmentId: string): SqlStatement {
    return this.#statement(
      'version',
      { environmentId },
      (is) => sql`
      select e.version, v.client_version, e.digest
      from ff_environment_version e
      left join ff_version v on v.environment_id = e.environment_id and v.version = e.version
      where e.environment_id = ${is.environmentId}`,
    )
  }

  /** A row with the `version` and the `client_version` (null: the same) of a past version. */
  pastVersion(environmentId: string, version: number): SqlStatement {
    return this.#statement(
      'past version',
      { environmentId, version },
      (is) => sql`
      select version, client_version from ff_version
      where environment_id = ${is.environmentId} and version = ${is.version}`,
    )
  }

  setVersion(environmentId: string, version: number, digest: string): SqlStatement {
    return this.#statement(
      'set version',
      { environmentId, version, digest },
      (is) => sql`
      update ff_environment_version set version = ${is.version}, digest = ${is.digest}
      where environment_id = ${is.environmentId}`,
    )
  }

  appendVersion(
    environmentId: string,
    published: PublishedVersion,
    clientVersion: number,
  ): SqlStatement {
    const { version, publishedAt, eventId } = published
    const flags = JSON.stringify(published.flags)
    const segments = JSON.stringify(published.segments)
    const versions = { version, clientVersion: clientVersion === version ? null : clientVersion }
    const values = { environmentId, ...versions, publishedAt, eventId, flags, segments }
    return this.#statement(
      'append version',
      values,
      (is) => sql`
      insert into ff_version (environment_id, version, client_version, published_at, event_id,
        flags, segments)
      values (${is.environmentId}, ${is.version}, ${is.clientVersion}, ${is.publishedAt},
        ${is.eventId}, ${is.flags}, ${is.segments})`,
    )
  }

  /** Rows for `toPublishedVersion`, the newest first. */
  versions(environmentId: string, { page, limit }: VersionPage): SqlStatement {
    return this.#statement(
      'versions',
      { environmentId, limit, skipped: (page - 1) * limit },
      (is) => sql`
      select version, published_at, event_id, flags, segments from ff_version
      where environment_id = ${is.environmentId}
      order by version desc limit ${is.limit} offset ${is.skipped}`,
    )
  }

  append(environmentId: string, entry: LogEntry): readonly [SqlStatement, SqlStatement] {
    const { kind, id, version, baseVersion, body } = entry
    const values = { environmentId, kind, id, version, baseVersion, body }
    return [
      this.#statement(
        'append',
        values,
        (is) => sql`
        insert into ff_publication (environment_id, kind, entity_id, version, base_version, body)
        values (${is.environmentId}, ${is.kind}, ${is.id}, ${is.version}, ${is.baseVersion}, ${is.body})`,
      ),
      this.#statement(
        'set head',
        values,
        (is) => sql`
        insert into ff_publication_head (environment_id, kind, entity_id, version, base_version)
        values (${is.environmentId}, ${is.kind}, ${is.id}, ${is.version}, ${is.baseVersion})
        on conflict (environment_id, kind, entity_id)
        do update set version = excluded.version, base_version = excluded.base_version`,
      ),
    ]
  }

  /** The present state of one topic. */
  topic(environmentId: string, { kind, id }: LogTopic): SqlStatement {
    return this.#statement(
      'topic',
      { environmentId, kind, id },
      (is) => sql`${ENTRIES}
      where h.environment_id = ${is.environmentId} and h.kind = ${is.kind} and h.entity_id = ${is.id}
      ${IN_ORDER}`,
    )
  }

  /** The present state of every topic. */
  present(environmentId: string): SqlStatement {
    return this.#statement(
      'present',
      { environmentId },
      (is) => sql`${ENTRIES} where h.environment_id = ${is.environmentId} ${IN_ORDER}`,
    )
  }

  /** The state of every topic at a version. */
  past(environmentId: string, version: number): SqlStatement {
    return this.#statement(
      'past',
      { environmentId, version },
      (is) => sql`
      select p.kind, p.entity_id, p.version, p.base_version, p.body
      from (
        select kind, entity_id, max(version) as version from ff_publication
        where environment_id = ${is.environmentId} and version <= ${is.version}
        group by kind, entity_id
      ) newest
      join ff_publication h on h.environment_id = ${is.environmentId} and h.kind = newest.kind
        and h.entity_id = newest.entity_id and h.version = newest.version
      join ff_publication p on p.environment_id = h.environment_id and p.kind = h.kind
        and p.entity_id = h.entity_id and p.version between h.base_version and h.version
      ${IN_ORDER}`,
    )
  }

  /**
   * The present state of changed flags, and of all that belongs to a changed segment. The joins say
   * in which order: a database that knows nothing of the data would begin with the whole log.
   */
  changed(environmentId: string, since: number): SqlStatement {
    return this.#statement(
      'changed',
      { environmentId, since },
      (is) => sql`
      select p.kind, p.entity_id, p.version, p.base_version, p.body
      from (
        select kind, entity_id from ff_publication_head
        where environment_id = ${is.environmentId} and version > ${is.since}
        union
        select part.kind, part.entity_id
        from ff_publication_head changed
        join ff_publication_head part on part.environment_id = changed.environment_id
          and part.kind in ('segment', 'included', 'excluded')
          and part.entity_id = changed.entity_id
        where changed.environment_id = ${is.environmentId} and changed.version > ${is.since}
          and changed.kind <> 'flag'
      ) topic
      cross join ff_publication_head h
      cross join ff_publication p
      where h.environment_id = ${is.environmentId} and h.kind = topic.kind
        and h.entity_id = topic.entity_id and p.environment_id = h.environment_id
        and p.kind = h.kind and p.entity_id = h.entity_id
        and p.version between h.base_version and h.version
      ${IN_ORDER}`,
    )
  }

  /** `compose` receives placeholders for the values and returns the same query for each `name`. */
  #statement<Values extends Readonly<Record<string, SqlValue>>>(
    name: string,
    values: Values,
    compose: (is: Values) => RawBuilder<unknown>,
  ): SqlStatement {
    const placeholders = new Placeholders()
    const inPlace: Record<string, SqlValue> = {}
    for (const [key, value] of Object.entries(values)) inPlace[key] = placeholders.for(value)
    // Placeholders are numbered by the order of the values, so that order is part of the shape.
    return this.#templates.fill(`${name} ${Object.keys(values)}`, placeholders, () => {
      const query = compose(inPlace as Values)
      return { compile: () => query.compile(this.#dialect.builder) }
    })
  }
}
