import {
  type Endpoint,
  type EndpointName,
  endpoints,
  type Permission,
} from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import type * as z from 'zod'
import type { Actor } from '../access/actors.ts'
import { type Ids, lastRecordOf, loadPath, type PathOf, resolvedIds } from '../access/paths.ts'
import { checkComment } from '../requests/comments.ts'
import type { AnyInput, CallInput, InputOf } from '../requests/input.ts'
import {
  assertReadOnlyFields,
  hasReadOnlyFields,
  withoutReadOnlyFields,
} from '../requests/read-only.ts'
import type { WithHeaders } from '../requests/with-headers.ts'
import {
  applyChange,
  type ChangeCall,
  type ChangeRequest,
  type ChangeServices,
} from './apply-change.ts'
import { assertChangeable } from './archived-flags.ts'
import type { CompletedChange } from './change-event.ts'
import type { RecordWriter } from './record-writer.ts'

type Table = typeof endpoints

/** The name of an endpoint that requires a permission of the actor's role. */
export type PermittedName = {
  [N in keyof Table]: Table[N]['permission'] extends Permission ? N : never
}[keyof Table]

/**
 * The result of an endpoint; an iterable of results if the endpoint responds with JSON lines or
 * events.
 */
export type ResultOf<E extends Endpoint> = E extends
  | { readonly lines: true }
  | { readonly events: true }
  ? AsyncIterable<z.output<E['response']>>
  : z.output<E['response']>

/** The implementation of an endpoint. Throws a `FlagError` if it refuses the call. */
export type UseCase<Input, Result> = (
  services: ChangeServices,
  call: ChangeCall,
  input: Input,
) => Promise<Result>

/** A use case for each endpoint. */
export type EndpointUseCases = {
  readonly [N in EndpointName]: UseCase<
    InputOf<N>,
    ResultOf<Table[N]> | WithHeaders<ResultOf<Table[N]>>
  >
}

/** The reading methods of a storage. */
export type ReadableStorage = Pick<
  Storage,
  | 'find'
  | 'list'
  | 'loadFlagSet'
  | 'listVersions'
  | 'loadFlagHistory'
  | 'loadEvaluationCounts'
  | 'loadApiCalls'
>

/** The argument of the work of a use case: the input, the loaded records, and the actor. */
type Argument<Input, I> = Input & PathOf<I> & { readonly actor: Actor }

interface ReadTools {
  readonly storage: ReadableStorage
  /** Epoch milliseconds. */
  readonly now: number
}

interface PrepareTools extends ReadTools {
  /** The services and the call, for a trial run of another use case. */
  readonly services: ChangeServices
  readonly call: ChangeCall
}

interface ChangeTools<P> {
  readonly writer: RecordWriter
  /** The result of `prepare`. */
  readonly prepared: P
}

interface IdLoader<Input, I> {
  /** Returns the ids of the records to load; by default, the parameters of the path. */
  readonly load?: ((input: Input, actor: Actor) => I) | undefined
}

interface QueryDefinition<E extends Endpoint, Input, I> extends IdLoader<Input, I> {
  readonly run: (argument: Argument<Input, I> & ReadTools) => Promise<ResultOf<E>>
}

interface ChangeDefinition<Input, I, P, Result> extends IdLoader<Input, I> {
  /** Runs before the transaction, for example to send a request to another service. */
  readonly prepare?: (argument: Argument<Input, I> & PrepareTools) => Promise<P>
  /**
   * Applies the change in the transaction. Can be called more than once, for example for a retry.
   */
  readonly run: (argument: Argument<Input, I> & ChangeTools<P>) => Promise<CompletedChange<Result>>
  /**
   * Reads the record as the endpoint with the method GET returns it. A body can contain read-only
   * fields only with the values of this record. By default, the record that the path names.
   */
  readonly read?: ReadRecord | undefined
}

/** The work of a GET. Its argument depends on the endpoint, which varies at run time. */
type ReadRecord = (argument: never) => Promise<object>

/** The ids of the path of an endpoint. */
type PathIds<N extends PermittedName> = InputOf<N>['params'] & Ids

/**
 * The work of an endpoint. With the method GET, the work only reads; otherwise it applies a change.
 */
type Work<N extends PermittedName> = Table[N]['method'] extends 'GET'
  ? QueryDefinition<Table[N], InputOf<N>, PathIds<N>>['run']
  : ChangeDefinition<InputOf<N>, PathIds<N>, undefined, ResultOf<Table[N]>>['run']

type Works = { readonly [N in PermittedName]?: Work<N> }

/**
 * The result of a use case. The result type of a change can be narrower than that of its endpoint.
 */
type WorkResult<N extends PermittedName, W> = W extends (
  argument: never,
) => Promise<CompletedChange<infer Result>>
  ? Result
  : ResultOf<Table[N]>

/**
 * Creates the use cases of endpoints by their names: queries for endpoints with the method GET, and
 * changes for all others. If the object contains the GET and the PUT of a path, the PUT accepts the
 * record of the GET. Use `defineQuery` or `defineChange` for a use case that needs `load` or
 * `prepare`.
 *
 * @example
 * export const planUseCases = defineUseCases({
 *   getPlan: async ({ plan }) => plan,
 *   async deletePlan({ writer, plan, expectedRevision }) { … },
 * })
 */
export function defineUseCases<W extends Works>(works: W) {
  const useCases = Object.entries(works).map(([key, work]) => {
    const name = key as PermittedName
    // The argument type of the work depends on the endpoint, which varies at run time.
    const run = work as never
    const { method, path } = endpoints[name]
    if (method === 'GET') return [name, defineQuery(name, { run })]
    const reading = method === 'PUT' ? readingOf(path) : undefined
    const read = works[reading as keyof Works] as ReadRecord | undefined
    return [name, defineChange(name, { run, read })]
  })
  return Object.fromEntries(useCases) as {
    readonly [N in keyof W & PermittedName]: UseCase<CallInput<InputOf<N>>, WorkResult<N, W[N]>>
  }
}

/** Returns the name of the endpoint that reads a path. */
function readingOf(path: string): string | undefined {
  const rows = Object.entries<Endpoint>(endpoints)
  return rows.find(([, each]) => each.method === 'GET' && each.path === path)?.[0]
}

/**
 * Creates the use case of an endpoint that only reads. The endpoint table contains the required
 * permission. Before `run` is called, the records with the ids are loaded and access to them is
 * checked.
 *
 * @example
 * const listPlans = defineQuery('listPlans', {
 *   load: () => ({ catalogue: true }),
 *   run: ({ storage }) => loadPlans(storage),
 * })
 */
export function defineQuery<
  N extends PermittedName,
  Input extends AnyInput = InputOf<N>,
  I extends Ids = Input['params'] & Ids,
>(
  name: N,
  { load, run }: QueryDefinition<Table[N], Input, I>,
): UseCase<CallInput<Input>, ResultOf<Table[N]>> {
  return async (services, { actor }, given) => {
    const { storage, clock } = services
    const { input, request } = requestOf(name, { actor }, { given, load })
    const path = await loadPath(storage, request, request.ids)
    return run({ ...located(input, path), ...path, actor, storage, now: clock.now() })
  }
}

/**
 * Creates the use case of an endpoint that changes configuration. The use case calls `applyChange`.
 * The endpoint table contains the required permission. Before `run` is called, the records with the
 * ids are loaded under the lock of their organization, and access to them is checked.
 *
 * @example
 * const createCheckout = defineChange('createCheckout', {
 *   prepare: ({ organization, body }) => payments.createCheckout(…),
 *   async run({ writer, organization, prepared }) { … },
 * })
 */
export function defineChange<
  N extends PermittedName,
  Input extends AnyInput = InputOf<N>,
  I extends Ids = Input['params'] & Ids,
  P = undefined,
  Result extends ResultOf<Table[N]> = ResultOf<Table[N]>,
>(
  name: N,
  { load, prepare, run, read }: ChangeDefinition<Input, I, P, Result>,
): UseCase<CallInput<Input>, Result> {
  return async (services, call, given) => {
    const { storage, clock } = services
    const { actor } = call
    const { input, request } = requestOf(name, call, { given, load })
    let { ids } = request
    let prepared: P | undefined
    if (prepare !== undefined) {
      const path = await loadPath(storage, request, ids)
      assertChangeable(name, path)
      ids = resolvedIds(ids, path)
      const tools = { actor, storage, now: clock.now(), services, call }
      prepared = await prepare({ ...located(input, path), ...path, ...tools })
    }
    return applyChange(services, { ...request, ids }, async (writer, path) => {
      assertChangeable(name, path)
      const change = { name, path, input: located(input, path), read }
      const checked = await withWritableBody(writer, change)
      return run({ ...checked, ...path, actor, writer, prepared: prepared as P })
    })
  }
}

/** Returns the input with the ids of the loaded records instead of keys. */
function located<Input extends AnyInput>(input: Input, path: object): Input {
  return { ...input, params: resolvedIds(input.params as object, path) }
}

interface ChangeInput<Input> {
  readonly name: PermittedName
  readonly path: object
  readonly input: Input
  readonly read: ReadRecord | undefined
}

/**
 * Returns the input of a change without the read-only fields of its body. Throws `INVALID_REQUEST`
 * if a read-only field differs from the stored record. If `If-Match` is stale, the change itself
 * throws `CONFLICT`, which is the cause of the differences.
 */
async function withWritableBody<Input extends AnyInput>(
  { reader, now }: RecordWriter,
  { name, path, input, read }: ChangeInput<Input>,
): Promise<Input> {
  const endpoint: Endpoint = endpoints[name]
  const { body, expectedRevision } = input
  if (!hasReadOnlyFields(endpoint.body, body)) return input
  const argument = { ...input, ...path, storage: reader, now: Date.parse(now) }
  const record: { readonly revision?: number } =
    read === undefined ? lastRecordOf(path, endpoint) : await read(argument as never)
  const isStale = expectedRevision !== undefined && expectedRevision !== record.revision
  if (!isStale) assertReadOnlyFields(endpoint.body, body, record)
  return { ...input, body: withoutReadOnlyFields(endpoint.body, body) }
}

interface RequestInput<Input extends AnyInput, I> extends IdLoader<Input, I> {
  readonly given: CallInput<Input>
}

/**
 * Returns the input, with `{}` for an omitted `params` or `query`, and the request: the call, the
 * permission that the endpoint requires, and the ids of the records to load.
 */
function requestOf<Input extends AnyInput, I extends Ids>(
  name: PermittedName,
  call: ChangeCall,
  { given, load }: RequestInput<Input, I>,
): { readonly input: Input; readonly request: ChangeRequest<I> } {
  // The types let a caller omit a field only if `{}` is a valid value for it.
  const comment = checkComment(given.comment)
  const input = { params: {}, query: {}, ...given, comment } as unknown as Input
  const ids = load === undefined ? (input.params as I) : load(input, call.actor)
  const { permission } = endpoints[name]
  return { input, request: { ...call, permission, ids, comment } }
}
