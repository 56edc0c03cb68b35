import type { Environment, Permission, Project } from '@ff/protocol/management'
import type { Records, Storage, StorageSession } from '@ff/storage'
import type { Actor } from './actors.ts'
import type { Access } from './permissions.ts'

/**
 * Loads the records that the ids of a path name and decides access on their organization. Throws
 * `NOT_FOUND` for a record that does not belong to the one before it. The records are read
 * concurrently and checked in the order of the path.
 */
export type LoadPath<Params, Path extends AnyPath> = (
  session: StorageSession,
  access: Access,
  params: Params,
) => Promise<Path>

/** `organization` is `null` only for what belongs to the installation. */
export interface AnyPath {
  readonly organization: Records['organization'] | null
  readonly project?: Project
  readonly environment?: Environment
}

/** The records that a use case needs, and the permission that it needs for them. */
export interface AccessRequest<Params, Path extends AnyPath> {
  readonly permission: Permission
  readonly load: LoadPath<Params, Path>
  readonly params: Params
}

/** Loads the records of a path for reading. Access is decided as for changes. */
export function loadPermitted<Params, Path extends AnyPath>(
  { storage, actor }: { readonly storage: Storage; readonly actor: Actor },
  { permission, load, params }: AccessRequest<Params, Path>,
): Promise<Path> {
  return load(storage, { actor, permission }, params)
}
