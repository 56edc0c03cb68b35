import type { Permission } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import type { Actor } from './actors.ts'
import type { AnyPath, LoadPath } from './paths.ts'

/** What a use case is about, and what an actor must be allowed to do there. */
export interface AccessRequest<Params, Path extends AnyPath> {
  readonly permission: Permission
  readonly load: LoadPath<Params, Path>
  readonly params: Params
}

/** The things that a path names, for reading. Access is decided as it is for changes. */
export function loadPermitted<Params, Path extends AnyPath>(
  { storage, actor }: { readonly storage: Storage; readonly actor: Actor },
  { permission, load, params }: AccessRequest<Params, Path>,
): Promise<Path> {
  return load(storage, { actor, permission }, params)
}
