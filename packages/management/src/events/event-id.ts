/** The position of a reader in the events of a project. */
const EVENT_ID = /^([0-9a-f-]{36}):(\d{1,12})$/

/** Returns the id of an event: its project and its position in the audit chain. */
export function eventId(projectId: string, sequence: number): string {
  return `${projectId}:${sequence}`
}

/** Returns the position in an event id; `undefined` if the id is not one of this project. */
export function asPosition(id: string, projectId: string): number | undefined {
  const [, project, sequence] = EVENT_ID.exec(id) ?? []
  return project === projectId ? Number(sequence) : undefined
}
