import type { Permission } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import type { Actor } from './actors.ts'
import type { AnyPath, LoadPath } from './paths.ts'

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
