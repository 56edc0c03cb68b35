import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { newId } from '../contract/samples/sample-fields.ts'
import { sqlite } from '../sqlite/sqlite.ts'
import { sqliteDialect } from './dialect.ts'
import { PublicationStatements } from './publication-statements.ts'

it('The query of changes uses indexes and reads only what changed', async () => {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  await sqlite({ database }).storage.migrate()
  const { sql, parameters } = new PublicationStatements(sqliteDialect).changed(newId(), 7)
  const plan = database.prepare(`explain query plan ${sql}`).all(...parameters)
  const visits = plan
    .map(({ detail }) => String(detail))
    .filter((detail) => /^(SCAN|SEARCH)/.test(detail))
    .map((detail) => detail.replace(/ USING.* INDEX \w+/, ''))
  expect(visits).toEqual([
    'SEARCH ff_publication_head (environment_id=? AND version>?)',
    'SEARCH changed (environment_id=? AND version>?)',
    'SEARCH part (environment_id=? AND kind=? AND entity_id=?)',
    'SCAN topic',
    'SEARCH h (environment_id=? AND kind=? AND entity_id=?)',
    'SEARCH p (environment_id=? AND kind=? AND entity_id=? AND version>? AND version<?)',
  ])
})
