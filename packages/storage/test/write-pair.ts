import type { Storage } from '../src/ports/storage.ts'

/** The environment in which `writePair` publishes. */
export const ENVIRONMENT_ID = 'environment-1'

const CREATED_AT = '2026-01-01T00:00:00.000Z'

/** Writes a record, an audit entry and a publication in one transaction, like the server. */
export async function writePair(storage: Storage, id: string): Promise<void> {
  await storage.transaction('organization-1', async (tx) => {
    await tx.insert('segment', {
      id,
      projectId: 'project-1',
      key: id,
      name: 'Segment',
      description: '',
      rules: [],
      logicalOp: 'AND',
      force: false,
      keyAttribute: 'user.key',
      includedCount: 0,
      excludedCount: 0,
      createdAt: CREATED_AT,
      updatedAt: CREATED_AT,
      deletedAt: null,
      revision: 1,
    })
    const definition = {
      id,
      key: id,
      rules: [],
      logicalOp: 'AND',
      force: false,
      keyAttribute: 'user.key',
    } as const
    const metadata = { publishedAt: CREATED_AT, eventId: id }
    await tx.publish(ENVIRONMENT_ID, [{ kind: 'segment', id, definition }], metadata)
    await tx.insert('auditEvent', {
      id,
      eventType: 'segment.created',
      payload: {},
      createdAt: CREATED_AT,
      streamId: `segment:${id}`,
      comment: null,
      orgId: 'organization-1',
      projectId: 'project-1',
      actorId: 'someone',
      actor: { id: 'someone', email: '', name: '', role: 'admin' },
      sequence: 1,
      previousHash: '',
      hash: '',
      position: '',
    })
  })
}
